#include "clients/desktop/model/event_filter.h"

#include <algorithm>
#include <bit>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "clients/desktop/model/event_facts.h"
#include "libs/base/str_cat.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

using trace::Category;

constexpr uint32_t BitOf(Category category) { return 1U << static_cast<unsigned>(category); }

constexpr uint32_t kKernels = BitOf(Category::kOtherKernel) | BitOf(Category::kGemm) |
                              BitOf(Category::kAttention) | BitOf(Category::kNormReduce) |
                              BitOf(Category::kElementwise) | BitOf(Category::kCommunication);
// Memory is a level over time, not events to pick from.
constexpr uint32_t kInNoLegend = BitOf(Category::kMemory);

uint32_t& MaskOf(const LegendEntry& entry, EventFilter& filter) {
  return entry.categories != 0 ? filter.categories : filter.languages;
}

uint32_t SetOf(const LegendEntry& entry) {
  return entry.categories != 0 ? entry.categories : entry.languages;
}

}  // namespace

bool EventFilter::ShowsStream(int64_t stream) const {
  return streams.empty() || std::find(streams.begin(), streams.end(), stream) != streams.end();
}

std::vector<LegendEntry> LegendOf(const TimelineModel& model, LanguageSet languages) {
  uint32_t present = 0;
  for (const auto& lane : model.lanes()) present |= lane->categories;
  present &= ~kInNoLegend;
  std::vector<LegendEntry> entries;
  if (std::popcount(present & kKernels) > 1) {
    entries.push_back({.label = "kernels", .categories = kKernels});
  }
  for (unsigned i = 0; i < trace::kCategoryCount; ++i) {
    if ((present >> i & 1U) == 0) continue;
    entries.push_back({.label = std::string(trace::ToString(static_cast<Category>(i))),
                       .categories = 1U << i,
                       .colour = LegendEntry::Colour::kCategory,
                       .of = static_cast<uint8_t>(i)});
  }
  if ((languages & ~kNoStack) == 0) return entries;
  for (unsigned i = 0; i < 31; ++i) {
    if ((languages >> i & 1U) == 0) continue;
    const std::string name = LanguageName(static_cast<trace::Language>(i));
    entries.push_back({.label = name.empty() ? "other frames" : name,
                       .languages = 1U << i,
                       .colour = LegendEntry::Colour::kLanguage,
                       .of = static_cast<uint8_t>(i)});
  }
  entries.push_back({.label = "no stack", .languages = kNoStack});
  return entries;
}

Shown ShownOf(const EventFilter& filter, const LegendEntry& entry) {
  EventFilter copy = filter;
  const uint32_t shown = MaskOf(entry, copy) & SetOf(entry);
  if (shown == 0) return Shown::kNot;
  return shown == SetOf(entry) ? Shown::kWholly : Shown::kPartly;
}

void Toggle(const LegendEntry& entry, EventFilter& filter) {
  uint32_t& mask = MaskOf(entry, filter);
  if (ShownOf(filter, entry) == Shown::kWholly) {
    mask &= ~SetOf(entry);
  } else {
    mask |= SetOf(entry);
  }
}

void ShowAlone(const LegendEntry& entry, EventFilter& filter) {
  uint32_t& mask = MaskOf(entry, filter);
  // What has no entry of its own is not touched.
  const uint32_t alone = SetOf(entry) | (entry.categories != 0 ? kInNoLegend : 0);
  mask = mask == alone ? kEverything : alone;
}

bool SetBound(std::string_view text, std::optional<int64_t>& bound) {
  if (text.empty()) {
    bound.reset();
    return true;
  }
  const absl::StatusOr<int64_t> parsed = base::ParseDuration(text);
  if (!parsed.ok() || *parsed < 0) return false;
  bound = *parsed;
  return true;
}

bool SetStreams(std::string_view text, std::vector<int64_t>& streams) {
  std::vector<int64_t> parsed;
  for (const absl::string_view part :
       absl::StrSplit(base::ToAbsl(text), absl::ByAnyChar(", "), absl::SkipEmpty())) {
    int64_t stream = 0;
    if (!absl::SimpleAtoi(part, &stream) || stream < 0) return false;
    parsed.push_back(stream);
  }
  streams = std::move(parsed);
  return true;
}

}  // namespace nanolane::desktop
