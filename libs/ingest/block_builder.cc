#include "libs/ingest/block_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::ingest {
namespace {

using nanolane::store::v1::AppendRequest;

// Dictionary entries of one append; far below the largest message.
constexpr size_t kDictionaryBytes = 4 << 20;

}  // namespace

absl::Status BlockBuilder::Add(trace::LaneId lane, const trace::Event& event) {
  trace::EventColumns& events = lanes_[lane];
  events.Add(event);
  ++buffered_;
  if (events.size() >= options_.block_events) return CutLane(lane);
  if (buffered_ >= options_.buffered_events) return CutFullestLane();
  return absl::OkStatus();
}

// The lowest of several that are equally full.
absl::Status BlockBuilder::CutFullestLane() {
  const auto fullest = std::max_element(
      lanes_.begin(), lanes_.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return CutLane(fullest->first);
}

absl::Status BlockBuilder::CutLane(trace::LaneId lane) {
  trace::EventColumns& events = lanes_[lane];
  if (events.empty()) return absl::OkStatus();
  events.SortByStart();
  const trace::OpId op = *std::max_element(events.op.begin(), events.op.end());
  const trace::StackId stack = *std::max_element(events.stack.begin(), events.stack.end());
  ASSIGN_OR_RETURN(
      std::string block,
      trace::EncodeBlock(events, {.lane = lane, .needs = dictionary_.NeedsOf(op, stack)}));
  // Only many large blocks in a row, cut by CutAll(), or an unusual bound come to this.
  if (pending_bytes_ > 0 && pending_bytes_ + block.size() > kMaxAppendBytes) Close();
  buffered_ -= events.size();
  events.clear();
  pending_bytes_ += block.size();
  pending_.add_blocks(std::move(block));
  if (pending_bytes_ >= options_.append_bytes) Close();
  return absl::OkStatus();
}

absl::Status BlockBuilder::CutAll() {
  for (const auto& [lane, events] : lanes_) RETURN_IF_ERROR(CutLane(lane));
  return absl::OkStatus();
}

void BlockBuilder::Close() {
  AppendRequest last = std::exchange(pending_, {});
  const size_t block_bytes = std::exchange(pending_bytes_, 0);
  full_bytes_ += block_bytes;
  nanolane::trace::v1::DictionaryDelta delta;
  trace::ToProto(dictionary_.TakeDelta(), delta);
  std::vector<nanolane::trace::v1::DictionaryDelta> pieces =
      trace::SplitDelta(std::move(delta), kDictionaryBytes);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool beside_blocks =
        i + 1 == pieces.size() && pieces[i].ByteSizeLong() + block_bytes <= kMaxAppendBytes;
    AppendRequest& append = beside_blocks ? last : full_.emplace_back();
    append.mutable_dictionary()->Swap(&pieces[i]);
  }
  if (last.blocks_size() > 0 || last.has_dictionary()) full_.push_back(std::move(last));
}

BlockBuilder::Appends BlockBuilder::TakeFull() {
  full_bytes_ = 0;
  return std::exchange(full_, {});
}

BlockBuilder::Appends BlockBuilder::Take() {
  Close();
  return TakeFull();
}

}  // namespace nanolane::ingest
