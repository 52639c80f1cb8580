#include "services/collector/session/losses.h"

#include <array>
#include <string>
#include <string_view>

#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"

namespace nanolane::collector {
namespace {

using nanolane::trace::v1::Loss;
using trace::EventKind;

constexpr std::array<std::string_view, wire::kLossReasons> kReasons = {
    "the ring was full: the collector did not keep up, or was away",
    "CUPTI's records waited for more memory than may be held",
    "CUPTI dropped records",
    "records without possible times",
    "more open ranges in one thread than are kept",
    "no room for names: the events are kept, their names are not",
    "more threads than are kept apart",
};

constexpr size_t kKernelSlot = 0;  // bit number of wire::kKindKernel

struct KindSlot {
  EventKind kind;
  std::string_view prefix;  // where the kind does not say enough
};
// By bit number of wire::Kinds.
constexpr std::array<KindSlot, wire::kKindSlots> kKinds = {{
    {EventKind::kKernel, ""},
    {EventKind::kMemcpy, ""},
    {EventKind::kMemset, ""},
    {EventKind::kSync, ""},
    {EventKind::kNvtx, ""},
    {EventKind::kMemory, ""},
    {EventKind::kMemory, "the framework's allocator: "},
    {EventKind::kUnspecified, "launch calls, whose device work is kept: "},
}};

// Kernels whose loss the process has counted leave launches behind: each is lost once.
uint64_t UnexplainedLaunches(const RingReader& reader, const BuilderCounts& counts) {
  uint64_t counted = 0;
  for (size_t reason = 0; reason < wire::kLossReasons; ++reason) {
    const bool event_is_kept = reason == static_cast<size_t>(wire::LossReason::kFactsFull);
    if (!event_is_kept) counted += reader.counters().lost()[reason][kKernelSlot];
  }
  const uint64_t launches = counts.launches_unmatched + counts.launches_dropped;
  return launches > counted ? launches - counted : 0;
}

void AddLoss(std::vector<Loss>& losses, EventKind kind, std::string_view reason, uint64_t count) {
  if (count == 0) return;
  Loss& loss = losses.emplace_back();
  loss.set_kind(trace::ToProto(kind));
  loss.set_reason(std::string(reason));
  loss.set_count(count);
}

}  // namespace

std::vector<Loss> Losses(const RingReader& reader, const SessionBuilder& builder) {
  std::vector<Loss> losses;
  for (size_t reason = 0; reason < wire::kLossReasons; ++reason) {
    for (size_t slot = 0; slot < wire::kKindSlots; ++slot) {
      AddLoss(losses, kKinds[slot].kind, base::StrCat(kKinds[slot].prefix, kReasons[reason]),
              reader.counters().lost()[reason][slot]);
    }
  }
  AddLoss(losses, EventKind::kUnspecified, "pages of the ring that made no sense (pages)",
          reader.corrupt_pages());
  AddLoss(losses, EventKind::kUnspecified,
          "names and devices that made no sense: what came after them is not known (facts)",
          reader.corrupt_facts() ? 1 : 0);
  const BuilderCounts& counts = builder.counts();
  AddLoss(losses, EventKind::kKernel, "kernel launches without a device record",
          UnexplainedLaunches(reader, counts));
  AddLoss(losses, EventKind::kUnspecified,
          "launch calls of device work that is kept: not recorded, or too late",
          counts.unlaunched_work);
  AddLoss(losses, EventKind::kUnspecified, "names that did not arrive: the events are kept",
          builder.unknown_names());
  AddLoss(losses, EventKind::kUnspecified,
          "more different operations than are kept apart: the events are kept by name",
          builder.blurred_ops());
  for (size_t kind = 0; kind < counts.laneless.size(); ++kind) {
    AddLoss(losses, static_cast<EventKind>(kind), "more streams or threads than are kept apart",
            counts.laneless[kind]);
  }
  return losses;
}

bool IsCountedInRing(const std::string& reason) {
  for (const std::string_view counted : kReasons) {
    // Behind a prefix, perhaps.
    if (reason.size() >= counted.size() &&
        reason.compare(reason.size() - counted.size(), counted.size(), counted) == 0) {
      return true;
    }
  }
  return false;
}

std::vector<Loss> Oddities(const SessionBuilder& builder) {
  std::vector<Loss> oddities;
  AddLoss(oddities, EventKind::kUnspecified, "kept: its launch call came before the capture",
          builder.counts().launched_before);
  AddLoss(oddities, EventKind::kUnspecified, "kept: starts before its launch call",
          builder.counts().starts_before_launch);
  AddLoss(oddities, EventKind::kUnspecified, "kept with no length: ends before it starts",
          builder.counts().negative_durations);
  return oddities;
}

}  // namespace nanolane::collector
