// The first pass: sorts each event of the file into TraceContents by its category.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "libs/ingest/kineto/trace_contents.h"
#include "libs/ingest/kineto/trace_reader.h"

namespace nanolane::ingest::kineto {

// Thread-compatible.
class TraceCollector final : public EventSink {
 public:
  // `tick` runs every few thousand events.
  TraceCollector(TraceContents& contents, std::function<void()> tick)
      : contents_(contents), tick_(std::move(tick)) {}

  void Take(const RawEvent& event, const JsonScanner& scanner) override;

 private:
  void TakeMetadata(const RawEvent& event);
  void TakeFrame(const RawEvent& event, HostKind kind);
  void TakeCall(const RawEvent& event);
  void TakeAnnotation(const RawEvent& event);
  void TakeMemory(const RawEvent& event);
  void TakeDevice(const RawEvent& event);

  HostRecord MakeHostRecord(const RawEvent& event, HostKind kind);
  DeviceOp MakeOp(const RawEvent& event);
  DeviceLane MakeLane(const RawEvent& event, trace::SyncKind sync_kind) const;
  uint32_t InternOp(const DeviceOp& op);
  uint32_t InternLane(const DeviceLane& lane);
  // kNoIndex: beyond the bound.
  ThreadIndex InternThread(const RawEvent& event);
  ProcessIndex InternProcess(const RawId& id);
  NameId InternText(const JsonText& text);
  void NoteStart(const RawEvent& event);

  TraceContents& contents_;
  std::function<void()> tick_;
  uint64_t taken_ = 0;
  const JsonScanner* scanner_ = nullptr;  // of the event in hand
  std::string scratch_;

  absl::flat_hash_map<DeviceOp, uint32_t> op_ids_;
  absl::flat_hash_map<DeviceLane, uint32_t> lane_ids_;
  absl::flat_hash_map<int64_t, ProcessIndex> process_ids_;
  absl::flat_hash_map<std::string, ProcessIndex> named_process_ids_;
  absl::flat_hash_map<std::pair<ProcessIndex, uint64_t>, ThreadIndex> thread_ids_;
  // The thread of the last host event: they come in long stretches.
  int64_t last_pid_ = 0;
  int64_t last_tid_ = 0;
  ThreadIndex last_thread_ = kNoIndex;
  // By name: whether a call of it synchronizes. 0: not asked yet, 1: no, 2: yes.
  std::vector<uint8_t> sync_calls_;
};

}  // namespace nanolane::ingest::kineto
