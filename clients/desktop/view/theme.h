// The one theme: every colour that the viewer draws, dark and light. Tokens, not places: a view
// asks for `muted`, never for a hexadecimal number.
#pragma once

#include <array>
#include <cstdint>

#include "clients/desktop/render/row_pixels.h"
#include "libs/trace/kinds.h"
#include "libs/trace/model.h"

namespace nanolane::desktop {

enum class ThemeName : uint8_t { kDark, kLight };

// Colours as Rgba (red in the lowest byte), opaque unless they say otherwise.
struct Theme {
  Rgba background = 0;
  Rgba panel = 0;
  Rgba raised = 0;
  Rgba line = 0;
  Rgba text = 0;
  Rgba muted = 0;
  Rgba faint = 0;
  Rgba accent = 0;   // leaf indicator, live, primary action
  Rgba warning = 0;  // gaps, losses
  Rgba error = 0;
  Rgba on_span = 0;    // names on filled spans
  Rgba span_edge = 0;  // borders between spans
  Rgba shadow = 0;
  std::array<Rgba, trace::kCategoryCount> category{};
  Rgba python = 0;  // languages of frames
  Rgba cpp = 0;
  Rgba cuda = 0;
  Rgba other_language = 0;
  Rgba frame = 0;  // spans of stacks, before their language tints them

  Rgba OfLanguage(trace::Language which) const;
  // The same as a quiet ground for a row of spans, on which `text` is read.
  Rgba GroundOfLanguage(trace::Language which) const;
  Rgba OfCategory(trace::Category which) const { return category[static_cast<size_t>(which)]; }
  RowStyle row_style() const;
};

const Theme& ThemeOf(ThemeName name);

// Alpha in 0..1.
Rgba Faded(Rgba color, double alpha);

}  // namespace nanolane::desktop
