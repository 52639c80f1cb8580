#include "clients/desktop/testing/live_script.h"

#include <algorithm>
#include <random>
#include <set>

#include "libs/trace/block_codec.h"
#include "libs/trace/event_columns.h"

namespace nanolane::desktop {
namespace {

using query::v1::FollowResponse;
using query::v1::LaneInfo;
using query::v1::StreamTimelineResponse;

// A lane's or session's extent and count with another one's.
template <typename T, typename U>
void Include(const U& part, T& whole) {
  const bool first = whole.events() == 0;
  whole.set_start_ns(first ? part.start_ns() : std::min(whole.start_ns(), part.start_ns()));
  whole.set_end_ns(first ? part.end_ns() : std::max(whole.end_ns(), part.end_ns()));
  whole.set_events(whole.events() + part.events());
}

std::string KeyOf(const LaneInfo& lane) { return lane.lane().SerializeAsString(); }

}  // namespace

LiveScript::LiveScript(const std::vector<SessionBuilder>& epochs,
                       const LiveScriptOptions& options) {
  for (size_t i = 0; i < epochs.size(); ++i) AddPieces(epochs[i], i, options.block_events);
  std::shuffle(pieces_.begin(), pieces_.end(), std::mt19937_64(options.seed));
  *summary_.mutable_session() = epochs.front().Summary().session();
  summary_.mutable_session()->set_ended(true);
  WriteSteps(std::min(options.state_blocks, pieces_.size()));
  for (const Piece& piece : pieces_) Include(piece.lane, summary_);
  WriteWhole();
}

void LiveScript::AddPieces(const SessionBuilder& epoch, size_t index, size_t block_events) {
  for (const StreamTimelineResponse& message : epoch.Messages(block_events)) {
    if (message.has_dictionary()) dictionaries_.push_back(message.dictionary().delta());
    for (const query::v1::Block& block : message.blocks().blocks()) {
      Piece& piece = pieces_.emplace_back();
      piece.epoch = index;
      piece.block = block;
      piece.block.set_epoch(index + 1);
      trace::EventColumns events;
      static_cast<void>(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), events));
      piece.lane = epoch.InfoOf(block.lane_id(), events);
    }
  }
}

void LiveScript::Grow(const Piece& piece) {
  for (LaneInfo& lane : lanes_) {
    if (KeyOf(lane) == KeyOf(piece.lane)) return Include(piece.lane, lane);
  }
  lanes_.push_back(piece.lane);
  lanes_.back().set_lane_id(static_cast<uint32_t>(lanes_.size()));
}

trace::v1::SessionSummary LiveScript::Running() const {
  trace::v1::SessionSummary summary;
  *summary.mutable_session() = summary_.session();
  summary.mutable_session()->set_ended(false);
  for (const LaneInfo& lane : lanes_) {
    if (lane.events() > 0) Include(lane, summary);
  }
  return summary;
}

void LiveScript::AddDictionary(size_t epoch, FollowResponse& step) const {
  query::v1::EpochDictionary& entries = *step.add_dictionaries();
  entries.set_epoch(epoch + 1);
  *entries.mutable_delta() = dictionaries_[epoch];
}

void LiveScript::WriteSteps(size_t state_blocks) {
  const auto lane_of = [this](const Piece& piece) {
    return *std::find_if(lanes_.begin(), lanes_.end(), [&piece](const LaneInfo& lane) {
      return KeyOf(lane) == KeyOf(piece.lane);
    });
  };
  std::set<size_t> sent;  // dictionaries
  for (size_t i = 0; i < state_blocks; ++i) {
    Grow(pieces_[i]);
    pieces_[i].block.set_lane_id(lane_of(pieces_[i]).lane_id());
  }
  FollowResponse& first = steps_.emplace_back();
  first.set_restart(true);
  *first.mutable_summary() = Running();
  first.mutable_lanes()->Assign(lanes_.begin(), lanes_.end());
  for (size_t i = 0; i < state_blocks; ++i) {
    FollowResponse& step = steps_.emplace_back();
    if (sent.insert(pieces_[i].epoch).second) AddDictionary(pieces_[i].epoch, step);
    *step.add_blocks() = pieces_[i].block;
  }
  uint64_t commits = state_blocks + 1;
  steps_.back().set_cursor(commits);
  steps_.back().set_caught_up(true);
  state_steps_ = steps_.size();
  for (size_t i = state_blocks; i < pieces_.size(); ++i) {
    FollowResponse& step = steps_.emplace_back();
    Grow(pieces_[i]);
    const LaneInfo lane = lane_of(pieces_[i]);
    pieces_[i].block.set_lane_id(lane.lane_id());
    *step.mutable_summary() = Running();
    *step.add_lanes() = lane;
    if (sent.insert(pieces_[i].epoch).second) AddDictionary(pieces_[i].epoch, step);
    *step.add_blocks() = pieces_[i].block;
    step.set_cursor(++commits);
    step.set_caught_up(true);
  }
  FollowResponse& last = steps_.emplace_back();
  *last.mutable_summary() = Running();
  last.mutable_summary()->mutable_session()->set_ended(true);
  last.set_cursor(++commits);
  last.set_caught_up(true);
}

void LiveScript::WriteWhole() {
  query::v1::TimelineHeader& header = *whole_.emplace_back().mutable_header();
  *header.add_sessions() = summary_;
  header.set_expected_events(summary_.events());
  header.mutable_lanes()->Assign(lanes_.begin(), lanes_.end());
  for (size_t epoch = 0; epoch < dictionaries_.size(); ++epoch) {
    query::v1::DictionaryChunk& chunk = *whole_.emplace_back().mutable_dictionary();
    chunk.set_epoch(epoch + 1);
    *chunk.mutable_delta() = dictionaries_[epoch];
  }
  std::vector<const Piece*> in_order;
  for (const Piece& piece : pieces_) in_order.push_back(&piece);
  std::stable_sort(in_order.begin(), in_order.end(), [](const Piece* a, const Piece* b) {
    return a->lane.start_ns() < b->lane.start_ns();
  });
  for (const Piece* piece : in_order)
    *whole_.emplace_back().mutable_blocks()->add_blocks() = piece->block;
  whole_.emplace_back().mutable_end();
}

std::vector<SessionBuilder> TwoWriters() {
  std::vector<SessionBuilder> epochs = {SmallSession(), SessionBuilder()};
  SessionBuilder& second = epochs.back();
  const trace::LaneId late = second.AddLane(
      {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 30});
  const trace::LaneId shared =
      second.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 7});
  const trace::LaneId ranges =
      second.AddLane({.kind = trace::LaneKind::kNvtxThread, .thread = 4121});
  const trace::OpId reduce = second.AddKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const trace::OpId gemm = second.AddKernel("ampere_sgemm_128x64_tn");
  const trace::OpId epoch = second.AddOp(trace::EventKind::kNvtx, "epoch");
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t start = 1'080'000'000 + i * 300'000;
    second.Add(late, {.op = reduce, .start_ns = start, .duration_ns = 280'000});
    second.Add(shared, {.op = gemm, .start_ns = start + 7'000, .duration_ns = 150'000});
  }
  // Comes after what lies inside of it.
  second.Add(ranges, {.op = epoch, .start_ns = 999'000'000, .duration_ns = 94'000'000});
  return epochs;
}

}  // namespace nanolane::desktop
