// Which events are shown: by category, by language of their stack, by duration, by stream. What is
// not shown stays in sight as a faint presence and is counted (filtered_lanes.h).
//
// The legend's entries are sets of categories or languages; a click toggles one, and one can be
// shown alone. Thread-compatible.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/desktop/model/timeline_model.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {

// Bit i: trace::Language i is among the frames of a stack.
using LanguageSet = uint32_t;
inline constexpr LanguageSet kNoStack = 1U << 31;  // there is no stack
inline constexpr uint32_t kEverything = ~uint32_t{0};

// Sets as a mask, an absent bound, or an empty list: no condition.
struct EventFilter {
  uint32_t categories = kEverything;  // bit i: category i
  // An event is shown for any of its stack's languages.
  LanguageSet languages = kEverything;
  std::optional<int64_t> least_ns = {};  // durations, inclusive
  std::optional<int64_t> most_ns = {};
  std::vector<int64_t> streams = {};

  bool operator==(const EventFilter&) const = default;

  bool active() const { return !(*this == EventFilter()); }
  bool by_duration() const { return least_ns.has_value() || most_ns.has_value(); }
  bool by_language() const { return languages != kEverything; }
  bool ShowsCategory(trace::Category category) const {
    return (categories >> static_cast<unsigned>(category) & 1U) != 0;
  }
  bool ShowsDuration(int64_t duration_ns) const {
    const int64_t length = duration_ns < 0 ? 0 : duration_ns;
    return length >= least_ns.value_or(0) &&
           length <= most_ns.value_or(std::numeric_limits<int64_t>::max());
  }
  bool ShowsStream(int64_t stream) const;
};

// One entry of the legend: the events of some categories, or of some languages.
struct LegendEntry {
  enum class Colour : uint8_t { kNone, kCategory, kLanguage };

  std::string label;
  uint32_t categories = 0;
  LanguageSet languages = 0;
  Colour colour = Colour::kNone;
  uint8_t of = 0;  // the category or language of the colour
};

// The entries for what `model` holds: "kernels" for all families where there are several, then one
// for each category; `languages` of its stacks, if it has any.
std::vector<LegendEntry> LegendOf(const TimelineModel& model, LanguageSet languages);

enum class Shown : uint8_t { kNot, kPartly, kWholly };
Shown ShownOf(const EventFilter& filter, const LegendEntry& entry);

// Hides what the entry stands for; where some of it is hidden, shows all of it.
void Toggle(const LegendEntry& entry, EventFilter& filter);
// Of its kind (categories, languages) shows the entry alone; again: everything.
void ShowAlone(const LegendEntry& entry, EventFilter& filter);

// "10us" sets, "" clears a bound. False: not a duration, and the bound stays.
bool SetBound(std::string_view text, std::optional<int64_t>& bound);
// "7 14" or "7, 14" sets, "" clears the streams. False: not numbers, and they stay.
bool SetStreams(std::string_view text, std::vector<int64_t>& streams);

}  // namespace nanolane::desktop
