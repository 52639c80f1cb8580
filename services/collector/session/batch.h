// One batch of a capture: reads the ring through the builder into blocks, and knows which records
// of the ring are in them.
//
// A batch becomes one append with events, and appends with dictionary entries alone before it. The
// order of steps is what makes a restart exact: Fill, Cut, learn the sequence of the append with
// events (the last one), MarkAll, and only then hand the appends on. Before MarkAll nothing of the
// batch counts as stored; after it, whatever happens to the append decides. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/ingest/block_builder.h"
#include "services/collector/ring/ring_reader.h"
#include "services/collector/session/session_builder.h"

namespace nanolane::collector {

class Batch final : public EventSink {
 public:
  // Records that a batch takes. With as many as can be held for their launch call, the events of a
  // batch fit into one append however badly they pack.
  static constexpr size_t kMaxRecords = 65'536;

  Batch(RingReader& reader, const BuilderOptions& options);

  // Gives back what is safe, and takes what is in the ring into the batch, until it has
  // kMaxRecords. Whether the ring may have more.
  absl::StatusOr<bool> Fill(int64_t now_ns);

  // After the ring has finished and Fill has taken everything: what still waits for its launch call
  // goes into the batch without it.
  absl::Status Finish();

  // No events; new dictionary entries and facts alone make no batch.
  bool empty() const { return refs_.empty(); }
  size_t events() const { return refs_.size(); }

  // The appends of the batch, without session, epoch and sequence; all events are in the last one.
  // RESOURCE_EXHAUSTED: more bytes than one append takes.
  absl::StatusOr<ingest::BlockBuilder::Appends> Cut();

  // The last append of the batch has this sequence. The next batch begins.
  void MarkAll(uint64_t sequence);

  SessionBuilder& builder() { return builder_; }
  const SessionBuilder& builder() const { return builder_; }

 private:
  void TakeEvent(trace::LaneId lane, const trace::Event& event, const RecordRef& ref) override;
  // In no append, so that it does not hold its page; read again after a restart, to the same end.
  void TakeNothing(const RecordRef& ref) override { reader_.Mark(ref, 0); }
  void PinLaunch(const RecordRef& ref) override { reader_.Pin(ref); }
  void MatchLaunch(const RecordRef& ref) override { matched_.push_back(ref); }
  void DropLaunch(const RecordRef& ref) override { reader_.Unpin(ref); }

  RingReader& reader_;
  ingest::BlockBuilder blocks_;
  SessionBuilder builder_;
  size_t records_ = 0;              // taken from the ring into this batch
  std::vector<RecordRef> refs_;     // of the batch's events
  std::vector<RecordRef> matched_;  // launches whose first device work is in the batch
  absl::Status status_;             // of the block builder
};

}  // namespace nanolane::collector
