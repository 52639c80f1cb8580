#include "services/collector/session/batch.h"

#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/block_codec.h"

namespace nanolane::collector {

Batch::Batch(RingReader& reader, const BuilderOptions& options)
    : reader_(reader),
      blocks_({.block_events = trace::kLiveBlockEvents,
               .buffered_events = 2 * (kMaxRecords + HeldEvents::kMaxHeld),
               .append_bytes = ingest::kMaxAppendBytes}),
      builder_(options, blocks_.dictionary(), *this) {}

absl::StatusOr<bool> Batch::Fill(int64_t now_ns) {
  reader_.Release();
  builder_.SetNow(now_ns);
  // Full of launches whose work has not come: they leave nothing to append.
  if (empty()) records_ = 0;
  const size_t room = kMaxRecords - records_;
  const size_t given = reader_.Read(room, builder_);
  records_ += given;
  builder_.Expire();
  RETURN_IF_ERROR(status_);
  return given == room;
}

absl::Status Batch::Finish() {
  builder_.Finish();
  return status_;
}

void Batch::TakeEvent(trace::LaneId lane, const trace::Event& event, const RecordRef& ref) {
  refs_.push_back(ref);
  if (absl::Status added = blocks_.Add(lane, event); !added.ok()) status_ = std::move(added);
}

absl::StatusOr<ingest::BlockBuilder::Appends> Batch::Cut() {
  RETURN_IF_ERROR(blocks_.CutAll());
  ingest::BlockBuilder::Appends appends = blocks_.Take();
  for (size_t i = 0; i + 1 < appends.size(); ++i) {
    if (appends[i].blocks_size() == 0) continue;
    return absl::ResourceExhaustedError(
        base::StrCat("a batch of ", refs_.size(), " events does not fit into one append"));
  }
  return appends;
}

void Batch::MarkAll(uint64_t sequence) {
  for (const RecordRef& ref : refs_) reader_.Mark(ref, sequence);
  for (const RecordRef& ref : matched_) {
    reader_.MarkLaunch(ref, sequence);
    reader_.Unpin(ref);
  }
  refs_.clear();
  matched_.clear();
  records_ = 0;
}

}  // namespace nanolane::collector
