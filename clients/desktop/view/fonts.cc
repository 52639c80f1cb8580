#include "clients/desktop/view/fonts.h"

#include <imgui.h>
#include <unistd.h>

#include <string>

namespace nanolane::desktop {
namespace {

// Debian's packages fonts-inter and fonts-jetbrains-mono. Inter's static files are used because of
// the variable one only the default weight can be had.
constexpr const char* kInter = "/usr/share/fonts/opentype/inter/Inter-";
constexpr const char* kMono = "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-";

// What names of kernels and ranges are likely to hold, and what the viewer itself writes.
constexpr ImWchar kGlyphs[] = {0x0020, 0x024F,  // Latin
                               0x0370, 0x03FF,  // Greek
                               0x0400, 0x045F,  // Cyrillic
                               0x2010, 0x2027,  // dashes, ellipsis
                               0x202F, 0x203A,  // ‹ ›
                               0x2190, 0x2195,  // arrows
                               0x2212, 0x2212,  // minus
                               0x2264, 0x2265,  // comparisons
                               0};

// ImGui measures a face from its highest to its lowest point; designs are drawn in ems.
constexpr float kInterBox = 1.21F;
constexpr float kMonoBox = 1.32F;

Face Load(const std::string& path, float size, double scale) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const auto pixels = static_cast<float>(size * scale);
  ImFontConfig config;
  config.OversampleH = 3;  // glyphs lie between pixels; without this, spacing is uneven
  config.OversampleV = 1;
  config.GlyphRanges = kGlyphs;
  if (access(path.c_str(), R_OK) == 0) {
    return {atlas.AddFontFromFileTTF(path.c_str(), pixels, &config), size};
  }
  ImFontConfig fallback;
  fallback.SizePixels = pixels;
  return {atlas.AddFontDefault(&fallback), size};
}

}  // namespace

Fonts LoadFonts(double scale) {
  ImGui::GetIO().Fonts->TexGlyphPadding = 2;
  const std::string inter = kInter;
  const std::string mono = kMono;
  return {.body = Load(inter + "Regular.otf", 12.5F * kInterBox, scale),
          .strong = Load(inter + "SemiBold.otf", 12.5F * kInterBox, scale),
          .small = Load(inter + "Regular.otf", 11.0F * kInterBox, scale),
          .brand = Load(inter + "Bold.otf", 14.0F * kInterBox, scale),
          .title = Load(inter + "SemiBold.otf", 20.0F * kInterBox, scale),
          .number = Load(mono + "Regular.ttf", 11.5F * kMonoBox, scale),
          .tick = Load(mono + "Regular.ttf", 10.5F * kMonoBox, scale)};
}

}  // namespace nanolane::desktop
