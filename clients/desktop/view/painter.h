// A thin pen over ImGui's draw lists: text with ellipsis and alignment, crisp lines and boxes, in
// logical pixels. Views paint through it; none of them keeps one. UI thread only.
#pragma once

#include <string_view>
#include <vector>

#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/view/fonts.h"
#include "clients/desktop/view/theme.h"

struct ImDrawList;

namespace nanolane::desktop {

inline constexpr double kRadius = 6;

class Painter {
 public:
  Painter(ImDrawList& list, const Theme& theme, const Fonts& fonts)
      : list_(list), theme_(theme), fonts_(fonts) {}

  const Theme& theme() const { return theme_; }
  const Fonts& fonts() const { return fonts_; }
  ImDrawList& list() { return list_; }

  void Fill(const Rect& rect, Rgba color, double radius = 0);
  // A border of one logical pixel inside the rectangle's edge.
  void Frame(const Rect& rect, Rgba color, double radius = 0, double thickness = 1);
  void HorizontalLine(double x0, double x1, double y, Rgba color);
  void VerticalLine(double x, double y0, double y1, Rgba color);
  void DashedVertical(double x, double y0, double y1, Rgba color);
  // Slanted lines, 6 pixels apart, over the rectangle.
  void Hatch(const Rect& rect, Rgba color);
  void Dot(double x, double y, double radius, Rgba color);
  // A small triangle that points down to (x, y + 6): something is missing there.
  void LossTick(double x, double y, Rgba color);
  // ▾ or ▸ of 7 pixels around (x, y): drawn, because Inter has no such glyphs.
  void Disclosure(double x, double y, bool open, Rgba color);

  // A triangle with an exclamation mark, 12 pixels wide, around (x, y).
  void Warning(double x, double y, Rgba color, Rgba mark);
  // A pin of 8 pixels around (x, y).
  void Pin(double x, double y, Rgba color);

  // Text whose box is `height` tall from `y`, vertically centred by the face's capitals. Returns
  // the width. Not more than `most_width` wide: what does not fit ends in an ellipsis.
  double Text(const Face& face, double x, double y, double height, Rgba color,
              std::string_view text, double most_width = 1e9);
  // The same, ending at `right`.
  double TextRight(const Face& face, double right, double y, double height, Rgba color,
                   std::string_view text);
  double TextCentered(const Face& face, double center, double y, double height, Rgba color,
                      std::string_view text);
  // `text` cut into lines of at most `width`; after a separator where one is near the end of a
  // line, for names have no spaces.
  static std::vector<std::string_view> Wrap(const Face& face, std::string_view text, double width);
  static double Width(const Face& face, std::string_view text);

  void Clip(const Rect& rect);
  void Unclip();

 private:
  ImDrawList& list_;
  const Theme& theme_;
  const Fonts& fonts_;
};

}  // namespace nanolane::desktop
