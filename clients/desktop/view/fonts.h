// Typefaces: Inter for words, JetBrains Mono for numbers, from Debian's packages; where a file is
// missing, ImGui's own face, so that the viewer is never without text.
#pragma once

struct ImFont;

namespace nanolane::desktop {

// A face and the size at which it is drawn: logical pixels from its highest to its lowest point.
struct Face {
  ImFont* font = nullptr;
  float size = 0;
};

// Sizes in logical pixels an em.
struct Fonts {
  Face body;    // 12.5
  Face strong;  // 12.5, semibold
  Face small;   // 11
  Face brand;   // 14, bold
  Face title;   // 20, semibold: scenes without a timeline
  Face number;  // 11.5, monospaced
  Face tick;    // 10.5, monospaced
};

// Adds the faces to the current ImGui context's atlas, rasterized for `scale` physical pixels in a
// logical one.
Fonts LoadFonts(double scale);

}  // namespace nanolane::desktop
