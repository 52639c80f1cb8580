#include "services/collector/session/session_builder.h"

#include <algorithm>
#include <limits>

#include "services/collector/session/api_names.h"
#include "services/collector/session/clean_text.h"

namespace nanolane::collector {
namespace {

using trace::Event;
using trace::EventKind;
using trace::LaneId;

int64_t Signed(uint64_t bytes) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(bytes, kMost));
}

size_t Index(EventKind kind) { return static_cast<size_t>(kind); }

// Correlations count up and wrap around.
bool IsBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

}  // namespace

SessionBuilder::SessionBuilder(const BuilderOptions& options, trace::DictionaryBuilder& dictionary,
                               EventSink& sink)
    : options_(options),
      sink_(sink),
      names_(dictionary),
      ops_(dictionary, names_),
      lanes_(dictionary, names_) {}

void SessionBuilder::TakeFact(const FactView& fact) {
  switch (static_cast<wire::FactType>(fact.header.type)) {
    case wire::FactType::kName: names_.Add(fact.header.id, fact.text); return;
    case wire::FactType::kDevice: lanes_.AddDevice(fact.As<wire::DeviceFact>()); return;
    case wire::FactType::kContext: lanes_.AddContext(fact.As<wire::ContextFact>()); return;
    case wire::FactType::kClock: clock_.Add(fact.As<wire::ClockFact>()); return;
    case wire::FactType::kMemoryLevel:
      if (!options_.is_resumed) levels_.AddBaseline(fact.As<wire::MemoryLevelFact>());
      return;
    case wire::FactType::kNote:
      if (notes_.size() < kMaxNotes) notes_.push_back(CleanText(fact.text));
      return;
  }
}

void SessionBuilder::TakeRecord(const RecordView& record) {
  switch (record.type) {
    case wire::RecordType::kLaunch: return TakeLaunch(record);
    case wire::RecordType::kKernel: return TakeKernel(record);
    case wire::RecordType::kMemcpy: return TakeCopy(record);
    case wire::RecordType::kMemset: return TakeSet(record);
    case wire::RecordType::kSync: return TakeSync(record);
    case wire::RecordType::kNvtx: return TakeRange(record);
    case wire::RecordType::kMemory: return TakeMemory(record);
    case wire::RecordType::kFrameworkMemory: return TakeFrameworkMemory(record);
  }
}

Event SessionBuilder::Timed(int64_t start_ns, int64_t duration_ns) {
  if (duration_ns < 0) ++counts_.negative_durations;
  Event event;
  event.start_ns = start_ns;
  event.duration_ns = std::max<int64_t>(duration_ns, 0);
  return event;
}

void SessionBuilder::TakeLaunch(const RecordView& view) {
  const auto& record = view.As<wire::LaunchRecord>();
  if (record.correlation == 0) return;  // no work can name it
  if (first_correlation_ == 0 || IsBefore(record.correlation, first_correlation_)) {
    first_correlation_ = record.correlation;
  }
  Launch launch = {.start_ns = record.start_ns,
                   .duration_ns = std::max<int64_t>(record.duration_ns, 0),
                   .ref = view.ref,
                   .correlation = record.correlation,
                   .thread = view.thread,
                   .is_kernel = (options_.kinds & wire::kKindKernel) != 0 &&
                                LaunchesKernel(record.domain, record.cbid),
                   .is_matched = view.stored};
  if (!launch.is_matched) sink_.PinLaunch(view.ref);
  held_.Take(record.correlation, [&](HeldEvent& held) {
    Attach(launch, held.event);
    Give(held.kind, held.lane, held.event, held.ref);
    Match(launch);
  });
  launches_.Add(launch, [this](const Launch& dropped) {
    if (dropped.is_kernel && dropped.start_ns >= on_ns_) ++counts_.launches_dropped;
    sink_.DropLaunch(dropped.ref);
  });
}

void SessionBuilder::Attach(const Launch& launch, Event& event) {
  event.launch_start_ns = launch.start_ns;
  event.launch_duration_ns = launch.duration_ns;
  event.thread = launch.thread;
  if (event.start_ns < launch.start_ns) ++counts_.starts_before_launch;
}

void SessionBuilder::Match(Launch& launch) {
  if (launch.is_matched) return;
  launch.is_matched = true;
  sink_.MatchLaunch(launch.ref);
}

void SessionBuilder::Join(EventKind kind, LaneId lane, Event& event, const RecordRef& ref) {
  const bool joins = (options_.kinds & wire::kKindLaunch) != 0;
  const auto correlation = static_cast<uint32_t>(event.correlation);
  if (!joins || correlation == 0) {
    if (joins) CountUnlaunched(correlation);
    return Give(kind, lane, event, ref);
  }
  if (Launch* const launch = launches_.Find(correlation); launch != nullptr) {
    Attach(*launch, event);
    Give(kind, lane, event, ref);
    return Match(*launch);
  }
  const int64_t deadline_ns = trace::EndOf(now_ns_, options_.join_wait_ns);
  held_.Add({.kind = kind,
             .lane = lane,
             .event = event,
             .ref = ref,
             .correlation = correlation,
             .deadline_ns = deadline_ns},
            [this](HeldEvent& held) { GiveUp(held); });
}

// Work that was on its way when the capture began lacks nothing that the capture could have had.
void SessionBuilder::CountUnlaunched(uint32_t correlation) {
  const bool before = !options_.is_resumed && correlation != 0 &&
                      (first_correlation_ == 0 || IsBefore(correlation, first_correlation_));
  ++(before ? counts_.launched_before : counts_.unlaunched_work);
}

void SessionBuilder::GiveUp(HeldEvent& held) {
  CountUnlaunched(held.correlation);
  Give(held.kind, held.lane, held.event, held.ref);
}

void SessionBuilder::Give(EventKind kind, LaneId lane, const Event& event, const RecordRef& ref) {
  if (lane == 0) {
    ++counts_.laneless[Index(kind)];
    return sink_.TakeNothing(ref);
  }
  ++counts_.events[Index(kind)];
  sink_.TakeEvent(lane, event, ref);
}

void SessionBuilder::TakeKernel(const RecordView& view) {
  const auto& record = view.As<wire::KernelRecord>();
  Event event = Timed(record.start_ns, record.duration_ns);
  event.op = ops_.Kernel(record);
  event.correlation = record.correlation;
  event.graph_node = record.graph_node;
  Join(EventKind::kKernel, lanes_.Stream(record.device, record.context, record.stream), event,
       view.ref);
}

void SessionBuilder::TakeCopy(const RecordView& view) {
  const auto& record = view.As<wire::MemcpyRecord>();
  Event event = Timed(record.start_ns, record.duration_ns);
  event.op = ops_.Copy(record);
  event.correlation = record.correlation;
  event.graph_node = record.graph_node;
  event.bytes = Signed(record.bytes);
  Join(EventKind::kMemcpy, lanes_.Stream(record.device, record.context, record.stream), event,
       view.ref);
}

void SessionBuilder::TakeSet(const RecordView& view) {
  const auto& record = view.As<wire::MemsetRecord>();
  Event event = Timed(record.start_ns, record.duration_ns);
  event.op = ops_.Set(record);
  event.correlation = record.correlation;
  event.graph_node = record.graph_node;
  event.bytes = Signed(record.bytes);
  Join(EventKind::kMemset, lanes_.Stream(record.device, record.context, record.stream), event,
       view.ref);
}

void SessionBuilder::TakeSync(const RecordView& view) {
  const auto& record = view.As<wire::SyncRecord>();
  Event event = Timed(record.start_ns, record.duration_ns);
  event.op = ops_.Sync(record);
  event.launch_start_ns = event.start_ns;
  event.launch_duration_ns = event.duration_ns;
  event.thread = view.thread;
  event.correlation = record.correlation;
  // The times are those of the host's call: the stream itself is marked, not blocked.
  if (record.sync_type == static_cast<uint8_t>(wire::SyncType::kStreamWaitEvent)) {
    event.duration_ns = 0;
  }
  Give(EventKind::kSync, lanes_.Sync(record), event, view.ref);
}

void SessionBuilder::TakeRange(const RecordView& view) {
  const auto& record = view.As<wire::NvtxRecord>();
  const bool is_mark = (record.flags & wire::kNvtxMark) != 0;
  Event event = Timed(record.start_ns, is_mark ? 0 : record.duration_ns);
  event.op = ops_.Range(record);
  event.thread = record.thread;
  Give(EventKind::kNvtx, lanes_.NvtxThread(record.thread, record.domain), event, view.ref);
}

void SessionBuilder::TakeMemory(const RecordView& view) {
  changes_.Add(MemoryChange(view), [this](const MemoryChange& change) { GiveChange(change); });
}

void SessionBuilder::GiveChange(const MemoryChange& change) {
  const wire::MemoryRecord& record = change.record();
  Event event = Timed(record.time_ns, 0);
  event.op = ops_.Memory(record);
  event.correlation = record.correlation;
  event.bytes = record.bytes;
  event.address = record.address;
  event.pool = levels_.PoolNumber(record.pool);
  event.level_bytes = levels_.After(record);
  Give(EventKind::kMemory, lanes_.DriverMemory(record.device), event, change.ref());
}

void SessionBuilder::TakeFrameworkMemory(const RecordView& view) {
  const auto& record = view.As<wire::FrameworkMemoryRecord>();
  Event event = Timed(record.time_ns, 0);
  event.op = ops_.FrameworkMemory(record);
  event.thread = view.thread;
  event.bytes = record.bytes;
  event.address = record.address;
  event.level_bytes = Signed(record.allocated_bytes);
  event.reserved_bytes = Signed(record.reserved_bytes);
  Give(EventKind::kMemory, lanes_.FrameworkMemory(record.device), event, view.ref);
}

void SessionBuilder::Expire() {
  held_.Expire(now_ns_, [this](HeldEvent& held) { GiveUp(held); });
  changes_.Release(now_ns_, [this](const MemoryChange& change) { GiveChange(change); });
}

void SessionBuilder::Finish() {
  held_.Expire(std::numeric_limits<int64_t>::max(), [this](HeldEvent& held) { GiveUp(held); });
  changes_.ReleaseAll([this](const MemoryChange& change) { GiveChange(change); });
  launches_.Clear([this](const Launch& launch) {
    if (launch.is_kernel && launch.start_ns >= on_ns_) ++counts_.launches_unmatched;
    sink_.DropLaunch(launch.ref);
  });
}

void SessionBuilder::FillSession(nanolane::trace::v1::Session& session) const {
  session.clear_gpus();
  for (const nanolane::trace::v1::Gpu& gpu : lanes_.Gpus()) *session.add_gpus() = gpu;
  clock_.Fill(*session.mutable_clock());
}

}  // namespace nanolane::collector
