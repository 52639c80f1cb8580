// Turns what the ring of one capture says into events of the model: interns names, ops and lanes,
// joins device work to the calls that launched it, and counts what is missing.
//
// Device work whose launch call has not come yet is held for join_wait_ns and then goes without.
// Time is handed in, on the clock of the events (CLOCK_MONOTONIC). Everything that a process could
// make grow is bounded, and what a bound cost is counted. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"
#include "nanolane/trace/v1/trace.pb.h"
#include "services/collector/ring/ring_records.h"
#include "services/collector/session/clock_pairs.h"
#include "services/collector/session/held_events.h"
#include "services/collector/session/lane_table.h"
#include "services/collector/session/launch_table.h"
#include "services/collector/session/memory_levels.h"
#include "services/collector/session/memory_order.h"
#include "services/collector/session/name_table.h"
#include "services/collector/session/op_table.h"

namespace nanolane::collector {

// Where events go, and who keeps launches in the ring while they are wanted.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void TakeEvent(trace::LaneId lane, const trace::Event& event, const RecordRef& ref) = 0;
  // The record became no event; it is done with.
  virtual void TakeNothing(const RecordRef& ref) = 0;
  virtual void PinLaunch(const RecordRef& ref) = 0;
  // The first device work of the launch was just taken.
  virtual void MatchLaunch(const RecordRef& ref) = 0;
  // No device work of the launch is waited for any longer.
  virtual void DropLaunch(const RecordRef& ref) = 0;
};

struct BuilderOptions {
  uint32_t kinds = wire::kAllKinds;  // wire::Kinds that are recorded
  int64_t join_wait_ns = 500'000'000;
  // The capture began under another collector: what is in use cannot be added up any more.
  bool is_resumed = false;
};

// What the builder saw that is not in the events.
struct BuilderCounts {
  std::array<uint64_t, trace::kEventKindCount> events = {};  // handed out, by EventKind
  uint64_t unlaunched_work = 0;                              // device work without its launch call
  uint64_t launched_before = 0;     // device work whose launch call came before the capture
  uint64_t launches_dropped = 0;    // kernel launches that made room before their kernel came
  uint64_t launches_unmatched = 0;  // kernel launches without a device record, at the end
  uint64_t starts_before_launch = 0;
  uint64_t negative_durations = 0;
  std::array<uint64_t, trace::kEventKindCount> laneless = {};  // left out: too many lanes
};

class SessionBuilder final : public RingVisitor {
 public:
  static constexpr size_t kMaxNotes = 64;

  SessionBuilder(const BuilderOptions& options, trace::DictionaryBuilder& dictionary,
                 EventSink& sink);

  // Never falls. Before the records that arrived until then.
  void SetNow(int64_t now_ns) { now_ns_ = now_ns; }
  // From when on the capture is complete: a launch before it may be without its device work.
  void SetStart(int64_t on_ns) { on_ns_ = on_ns; }
  void TakeFact(const FactView& fact) override;
  void TakeRecord(const RecordView& record) override;
  // Lets go of what has waited long enough.
  void Expire();
  // After the last record: lets go of everything that waits, and counts launches without work.
  void Finish();

  // Device work that waits for its launch call.
  size_t held() const { return held_.size(); }
  const BuilderCounts& counts() const { return counts_; }
  uint64_t unknown_names() const { return ops_.unknown_names(); }
  uint64_t blurred_ops() const { return ops_.blurred(); }
  // What the process could not have, in its own words; at most kMaxNotes.
  const std::vector<std::string>& notes() const { return notes_; }

  // GPUs and clock, as far as they are known.
  void FillSession(nanolane::trace::v1::Session& session) const;

 private:
  void TakeLaunch(const RecordView& view);
  void TakeKernel(const RecordView& view);
  void TakeCopy(const RecordView& view);
  void TakeSet(const RecordView& view);
  void TakeSync(const RecordView& view);
  void TakeRange(const RecordView& view);
  void TakeMemory(const RecordView& view);
  void GiveChange(const MemoryChange& change);
  void TakeFrameworkMemory(const RecordView& view);

  // Times as they were given, made legal.
  trace::Event Timed(int64_t start_ns, int64_t duration_ns);
  // Joins an event of the device to its launch, now or later.
  void Join(trace::EventKind kind, trace::LaneId lane, trace::Event& event, const RecordRef& ref);
  void Attach(const Launch& launch, trace::Event& event);
  void Match(Launch& launch);
  void GiveUp(HeldEvent& held);
  void CountUnlaunched(uint32_t correlation);
  void Give(trace::EventKind kind, trace::LaneId lane, const trace::Event& event,
            const RecordRef& ref);

  const BuilderOptions options_;
  EventSink& sink_;
  NameTable names_;
  OpTable ops_;
  LaneTable lanes_;
  LaunchTable launches_;
  HeldEvents held_;
  MemoryLevels levels_;
  MemoryOrder changes_;
  ClockPairs clock_;
  std::vector<std::string> notes_;
  BuilderCounts counts_;
  int64_t now_ns_ = 0;
  int64_t on_ns_ = std::numeric_limits<int64_t>::min();
  uint32_t first_correlation_ = 0;  // lowest of the launch calls so far; 0: none
};

}  // namespace nanolane::collector
