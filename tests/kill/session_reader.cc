#include "tests/kill/session_reader.h"

#include <algorithm>

#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

int IndexOfLane(const std::map<uint32_t, query::v1::LaneInfo>& lanes, uint32_t lane_id) {
  const auto info = lanes.find(lane_id);
  if (info == lanes.end()) return -1;
  const auto& known = KillLanes();
  const auto found = std::find(known.begin(), known.end(), trace::FromProto(info->second.lane()));
  return found == known.end() ? -1 : static_cast<int>(found - known.begin());
}

}  // namespace

void SeenSession::AddDictionary(uint64_t epoch, const trace::v1::DictionaryDelta& delta) {
  const absl::Status applied = dictionaries_[epoch].Apply(trace::FromProto(delta));
  if (!applied.ok()) problems.push_back(base::StrCat("dictionary: ", applied.ToString()));
}

void SeenSession::AddBlock(uint32_t lane_id, uint64_t epoch, const std::string& data) {
  block_bytes += data.size();
  const trace::Dictionary& names = dictionaries_[epoch];
  const auto header = trace::ReadBlockHeader(data);
  trace::EventColumns columns;
  const absl::Status decoded = trace::DecodeBlock(data, trace::ColumnSet::All(), columns);
  if (!header.ok() || !decoded.ok() || !names.sizes().Cover(header->needs)) {
    problems.push_back(
        base::StrCat("a block of lane ", lane_id, " of epoch ", epoch,
                     " cannot be read, or comes before its names: ", decoded.ToString()));
    return;
  }
  const int lane = IndexOfLane(lanes, lane_id);
  for (size_t i = 0; i < columns.size(); ++i) {
    const trace::Event event = columns.At(i);
    EventFacts facts = {
        .lane = lane,
        .start_ns = event.start_ns,
        .duration_ns = event.duration_ns,
        .kind = names.OpOf(event.op).kind,
        .name = names.OpName(event.op),
        .module = names.String(names.FrameOf(names.Stack(event.stack).frame).module),
        .level_bytes = event.level_bytes};
    if (!events.try_emplace(event.correlation, facts).second) {
      problems.push_back(
          base::StrCat("event ", event.correlation, " is there twice: ", ToString(facts)));
    }
  }
}

absl::Status ReadTimeline(query::v1::QueryService::Stub& query, const std::string& session_id,
                          SeenSession& seen) {
  query::v1::StreamTimelineRequest request;
  request.mutable_scope()->add_session_ids(session_id);
  request.set_max_block_version(trace::kBlockVersion);
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));
  const auto stream = query.StreamTimeline(&context, request);
  query::v1::StreamTimelineResponse message;
  uint64_t expected = 0;
  bool ended = false;
  while (stream->Read(&message)) {
    expected = message.expected_events();
    if (message.has_header()) {
      seen.summary = message.header().sessions(0);
      for (const auto& lane : message.header().lanes()) seen.AddLane(lane);
    } else if (message.has_dictionary()) {
      seen.AddDictionary(message.dictionary().epoch(), message.dictionary().delta());
    } else if (message.has_blocks()) {
      for (const auto& block : message.blocks().blocks()) {
        seen.AddBlock(block.lane_id(), block.epoch(), block.data());
      }
    }
    ended = message.has_end();
  }
  const absl::Status status = rpc::FromGrpc(stream->Finish());
  if (status.ok() && (!ended || expected != seen.events.size())) {
    seen.problems.push_back(base::StrCat("the timeline says ", expected, " events and brings ",
                                         seen.events.size(), ended ? "" : ", without an end"));
  }
  return status;
}

absl::Status Follow(query::v1::QueryService::Stub& query, const std::string& session_id,
                    grpc::ClientContext& context, FollowState& state, const FollowVisitor& visit) {
  query::v1::FollowRequest request;
  request.set_session_id(session_id);
  request.set_cursor(state.cursor);
  request.set_max_block_version(trace::kBlockVersion);
  const auto stream = query.Follow(&context, request);
  query::v1::FollowResponse message;
  bool stopped = false;
  while (!stopped && stream->Read(&message)) {
    if (message.restart()) state.seen = {};
    state.cursor = message.cursor();
    if (message.has_summary()) state.seen.summary = message.summary();
    for (const auto& lane : message.lanes()) state.seen.AddLane(lane);
    for (const auto& piece : message.dictionaries()) {
      state.seen.AddDictionary(piece.epoch(), piece.delta());
    }
    for (const auto& block : message.blocks()) {
      state.seen.AddBlock(block.lane_id(), block.epoch(), block.data());
    }
    stopped = !visit(message);
  }
  if (stopped) context.TryCancel();
  const grpc::Status status = stream->Finish();
  return stopped ? absl::OkStatus() : rpc::FromGrpc(status);
}

}  // namespace nanolane::testing
