#include "clients/desktop/view/theme.h"

#include <cmath>

#include "clients/desktop/model/stack_levels.h"

namespace nanolane::desktop {
namespace {

// From 0xRRGGBB.
constexpr Rgba Hex(uint32_t rgb) {
  return 0xFF000000U | ((rgb & 0xFF) << 16) | (rgb & 0xFF00) | (rgb >> 16);
}

// Categories that share a row differ in lightness as well as in hue: theme_test.cc measures them
// for the common deficiencies of colour vision.
constexpr std::array<Rgba, trace::kCategoryCount> Categories(uint32_t other_kernel) {
  std::array<Rgba, trace::kCategoryCount> colors{};
  const auto set = [&colors](trace::Category category, uint32_t rgb) {
    colors[static_cast<size_t>(category)] = Hex(rgb);
  };
  set(trace::Category::kOtherKernel, other_kernel);
  set(trace::Category::kGemm, 0x4A8CF5);
  set(trace::Category::kAttention, 0xC7A6FF);
  set(trace::Category::kNormReduce, 0xF0D05A);
  set(trace::Category::kElementwise, 0x1FA79A);
  set(trace::Category::kCommunication, 0xA845B8);
  set(trace::Category::kH2D, 0xF4A35C);
  set(trace::Category::kD2H, 0xE86E9E);
  set(trace::Category::kD2D, 0x9C7A48);
  set(trace::Category::kOtherCopy, 0xC4B59A);
  set(trace::Category::kMemset, 0x5A6675);
  set(trace::Category::kSync, 0x8794A6);
  set(trace::Category::kNvtx, 0x7C86F5);
  set(trace::Category::kMemory, 0x4FB3FF);
  set(trace::Category::kApi, 0x6F7F92);
  return colors;
}

constexpr Theme kDark = {.background = Hex(0x0E1116),
                         .panel = Hex(0x151A21),
                         .raised = Hex(0x1B212A),
                         .line = Hex(0x262E39),
                         .text = Hex(0xD9E0E8),
                         .muted = Hex(0x8A96A5),
                         .faint = Hex(0x5C6775),
                         .accent = Hex(0x3DDC84),
                         .warning = Hex(0xF2C14E),
                         .error = Hex(0xF07178),
                         .on_span = Hex(0x0B1017),
                         .span_edge = Hex(0x0E1116),
                         .shadow = 0x60000000U,
                         .category = Categories(0xC9D5E3),
                         .python = Hex(0x3DDC84),
                         .cpp = Hex(0xB48CFF),
                         .cuda = Hex(0x5B9DFF),
                         .other_language = Hex(0x8794A6),
                         .frame = Hex(0x3E4B5A)};

constexpr Theme kLight = {.background = Hex(0xF7F8FA),
                          .panel = Hex(0xFFFFFF),
                          .raised = Hex(0xF0F2F5),
                          .line = Hex(0xDCE1E7),
                          .text = Hex(0x1A2230),
                          .muted = Hex(0x5C6775),
                          .faint = Hex(0x97A1AE),
                          .accent = Hex(0x11A75C),
                          .warning = Hex(0xB7791F),
                          .error = Hex(0xC43D4B),
                          .on_span = Hex(0x0B1626),
                          .span_edge = Hex(0xF7F8FA),
                          .shadow = 0x14102030U,
                          .category = Categories(0xA9B8CB),
                          .python = Hex(0x11A75C),
                          .cpp = Hex(0x8A5CF0),
                          .cuda = Hex(0x3B7FE8),
                          .other_language = Hex(0x8794A6),
                          .frame = Hex(0xC3CCD7)};

// `share` of `b`, in 1/256.
Rgba Mixed(Rgba a, Rgba b, uint32_t share) {
  Rgba mixed = 0xFF000000U;
  for (unsigned shift = 0; shift < 24; shift += 8) {
    const uint32_t from = (a >> shift) & 0xFF;
    const uint32_t to = (b >> shift) & 0xFF;
    mixed |= ((from * (256 - share) + to * share) / 256) << shift;
  }
  return mixed;
}

}  // namespace

Rgba Theme::OfLanguage(trace::Language which) const {
  switch (which) {
    case trace::Language::kPython: return python;
    case trace::Language::kCpp:
    case trace::Language::kC:
    case trace::Language::kRust: return cpp;
    case trace::Language::kCuda: return cuda;
    case trace::Language::kUnknown:
    case trace::Language::kKernel: return other_language;
  }
  return other_language;
}

Rgba Theme::GroundOfLanguage(trace::Language which) const {
  constexpr uint32_t kTint = 36;
  return Mixed(frame, OfLanguage(which), kTint);
}

RowStyle Theme::row_style() const {
  RowStyle style;
  style.category = category;
  for (int i = 0; i < kLanguageCount; ++i) {
    style.language[static_cast<size_t>(i)] = GroundOfLanguage(static_cast<trace::Language>(i));
  }
  style.leaf = accent;
  style.hidden = muted;
  style.memory_line = OfCategory(trace::Category::kMemory);
  return style;
}

const Theme& ThemeOf(ThemeName name) { return name == ThemeName::kDark ? kDark : kLight; }

Rgba Faded(Rgba color, double alpha) {
  const auto own = static_cast<double>(color >> kAlphaShift);
  return WithAlpha(color, static_cast<uint32_t>(std::lround(own * alpha)));
}

}  // namespace nanolane::desktop
