#include "services/query/timeline_stream.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/query/lanes.h"
#include "services/query/scope.h"

namespace nanolane::query {
namespace {

using trace::DictionarySizes;

// The first chunk is small, so that it leaves at once; later ones amortize.
constexpr size_t kFirstChunkBytes = 16 << 10;
constexpr size_t kChunkBytes = 256 << 10;

void Raise(DictionarySizes& sizes, const trace::DictionaryNeeds& needs) {
  sizes.strings = std::max(sizes.strings, needs.strings);
  sizes.frames = std::max(sizes.frames, needs.frames);
  sizes.stacks = std::max(sizes.stacks, needs.stacks);
  sizes.ops = std::max(sizes.ops, needs.ops);
}

// One timeline stream.
class TimelineStream {
 public:
  TimelineStream(const v1::StreamTimelineRequest& request, StoreReader& store,
                 rpc::StreamWriter<v1::StreamTimelineResponse>& writer)
      : request_(request), store_(store), writer_(writer) {}

  absl::Status Run() {
    ASSIGN_OR_RETURN(sessions_, SelectSessions(request_.scope(), store_));
    RETURN_IF_ERROR(WriteHeader());
    for (size_t i = 0; i < sessions_.size() && !gone_; ++i) RETURN_IF_ERROR(WriteSession(i));
    if (gone_) return absl::OkStatus();
    v1::StreamTimelineResponse end;
    end.mutable_end();
    Write(std::move(end));
    return absl::OkStatus();
  }

 private:
  BlockQuery QueryOf(size_t session, bool with_data) const {
    return {.session_id = sessions_[session].session().session_id(),
            .lane_ids = lane_ids_[session],
            .window = request_.has_window() ? &request_.window() : nullptr,
            .with_data = with_data};
  }

  absl::Status WriteHeader() {
    v1::StreamTimelineResponse message;
    v1::TimelineHeader& header = *message.mutable_header();
    lane_ids_.resize(sessions_.size());
    session_events_.resize(sessions_.size());
    for (size_t i = 0; i < sessions_.size(); ++i) {
      *header.add_sessions() = sessions_[i];
      const std::string& id = sessions_[i].session().session_id();
      ASSIGN_OR_RETURN(std::vector<v1::LaneInfo> lanes, LanesOf(id, store_));
      for (v1::LaneInfo& lane : lanes) {
        if (!Wanted(lane)) continue;
        lane_ids_[i].push_back(lane.lane_id());
        *header.add_lanes() = std::move(lane);
      }
      if (lane_ids_[i].empty()) continue;
      RETURN_IF_ERROR(store_.ReadBlocks(
          QueryOf(i, /*with_data=*/false), [&](uint64_t events) { session_events_[i] = events; },
          [](const StoredBlock&) { return false; }));
    }
    header.set_expected_events(ExpectedEvents());
    Write(std::move(message));
    return absl::OkStatus();
  }

  bool Wanted(const v1::LaneInfo& lane) const {
    return request_.lanes().empty() ||
           std::any_of(
               request_.lanes().begin(), request_.lanes().end(), [&](const v1::LaneRef& ref) {
                 return ref.session_id() == lane.session_id() && ref.lane_id() == lane.lane_id();
               });
  }

  absl::Status WriteSession(size_t session) {
    if (lane_ids_[session].empty()) return absl::OkStatus();
    sent_entries_.clear();
    absl::Status status;
    const absl::Status read = store_.ReadBlocks(
        QueryOf(session, /*with_data=*/true),
        // The session may have been sealed, or grown, since the header was made.
        [&](uint64_t events) { session_events_[session] = events; },
        [&](StoredBlock block) {
          status = AddBlock(session, std::move(block));
          return status.ok() && !gone_ && !writer_.cancelled();
        });
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(read);
    return FlushChunk(session);
  }

  absl::Status AddBlock(size_t session, StoredBlock block) {
    ASSIGN_OR_RETURN(const trace::BlockHeader header, trace::ReadBlockHeader(block.data()));
    if (header.version > std::max(request_.max_block_version(), uint32_t{1})) {
      return absl::FailedPreconditionError(
          base::StrCat("the session has blocks of version ", header.version,
                       ", which the client does not read; upgrade it"));
    }
    Raise(chunk_needs_[block.epoch()], header.needs);
    chunk_bytes_ += block.data().size();
    chunk_events_ += block.events();
    v1::Block& to = *chunk_.mutable_blocks()->add_blocks();
    to.set_lane_id(block.lane_id());
    to.set_epoch(block.epoch());
    to.set_data(std::move(*block.mutable_data()));
    return chunk_bytes_ < chunk_limit_ ? absl::OkStatus() : FlushChunk(session);
  }

  absl::Status FlushChunk(size_t session) {
    if (!chunk_.has_blocks() || gone_) return absl::OkStatus();
    for (const auto& [epoch, needs] : chunk_needs_) {
      RETURN_IF_ERROR(WriteDictionary(session, epoch, needs));
    }
    chunk_.mutable_blocks()->set_session_index(static_cast<uint32_t>(session));
    sent_events_ += chunk_events_;
    Write(std::exchange(chunk_, {}));
    chunk_needs_.clear();
    chunk_bytes_ = 0;
    chunk_events_ = 0;
    chunk_limit_ = kChunkBytes;
    return absl::OkStatus();
  }

  absl::Status WriteDictionary(size_t session, uint64_t epoch, const DictionarySizes& needs) {
    DictionarySizes& sent = sent_entries_[epoch];
    if (sent.Cover({needs.strings, needs.frames, needs.stacks, needs.ops})) return absl::OkStatus();
    // Gathered first: the store's stream must not wait for the client.
    std::vector<DictionaryDelta> pieces;
    RETURN_IF_ERROR(store_.ReadDictionary(sessions_[session].session().session_id(), epoch, sent,
                                          needs, [&](DictionaryDelta delta) {
                                            pieces.push_back(std::move(delta));
                                            return true;
                                          }));
    for (DictionaryDelta& piece : pieces) {
      v1::StreamTimelineResponse message;
      v1::DictionaryChunk& chunk = *message.mutable_dictionary();
      chunk.set_session_index(static_cast<uint32_t>(session));
      chunk.set_epoch(epoch);
      chunk.mutable_delta()->Swap(&piece);
      Write(std::move(message));
    }
    Raise(sent, {needs.strings, needs.frames, needs.stacks, needs.ops});
    return absl::OkStatus();
  }

  uint64_t ExpectedEvents() const {
    return std::accumulate(session_events_.begin(), session_events_.end(), uint64_t{0});
  }

  void Write(v1::StreamTimelineResponse message) {
    message.set_sent_events(sent_events_);
    message.set_expected_events(ExpectedEvents());
    if (!gone_ && !writer_.Write(std::move(message))) gone_ = true;
  }

  const v1::StreamTimelineRequest& request_;
  StoreReader& store_;
  rpc::StreamWriter<v1::StreamTimelineResponse>& writer_;
  bool gone_ = false;

  std::vector<SessionSummary> sessions_;
  std::vector<std::vector<uint32_t>> lane_ids_;       // wanted ones, by session
  std::map<uint64_t, DictionarySizes> sent_entries_;  // of the current session, by epoch
  std::vector<uint64_t> session_events_;              // that the stream brings, by session
  uint64_t sent_events_ = 0;

  v1::StreamTimelineResponse chunk_;
  std::map<uint64_t, DictionarySizes> chunk_needs_;  // by epoch
  size_t chunk_bytes_ = 0;
  uint64_t chunk_events_ = 0;
  size_t chunk_limit_ = kFirstChunkBytes;
};

}  // namespace

absl::Status StreamTimeline(const v1::StreamTimelineRequest& request, StoreReader& store,
                            rpc::StreamWriter<v1::StreamTimelineResponse>& writer) {
  return TimelineStream(request, store, writer).Run();
}

}  // namespace nanolane::query
