// What every store does, whatever it keeps the data in.
//
// A session is written by *epochs*: a writer opens one with its own dictionary ids and numbers its
// appends from 1. Commit() applies appends atomically; those it reports OK for are durable. Reads
// see one consistent state for as long as they last.
//
// What was appended is rewritten once (*sealed*) into large blocks with an index of its spans, in
// runs: Prepare*() does the work beside everything else, Publish*() puts the result in the place of
// what it was made from, at once. Each commit and seal gets a number in its session, by which a
// reader follows it.
//
// Implementations are thread-safe for reads and preparation; what is marked exclusive is called by
// one thread at a time (the Committer's).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/dictionary.h"
#include "nanolane/store/v1/store.pb.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::store {

namespace v1 = nanolane::store::v1;
using nanolane::trace::v1::DictionaryDelta;
using nanolane::trace::v1::Session;
using nanolane::trace::v1::SessionSummary;

// One message of one append stream, and what became of it.
struct AppendItem {
  std::string session_id;  // 32 hexadecimal digits, checked
  uint64_t epoch = 0;
  const v1::AppendRequest* request = nullptr;
  // Set by Commit. On OK `acknowledged_sequence` says what is durable of the epoch now.
  absl::Status status;
  uint64_t acknowledged_sequence = 0;
};

// Which dictionary entries: those of ids above `have` up to `need`.
struct DictionaryRange {
  uint64_t epoch = 0;
  trace::DictionarySizes have;
  trace::DictionarySizes need = kAllEntries;

  static constexpr trace::DictionarySizes kAllEntries = {
      .strings = UINT32_MAX, .frames = UINT32_MAX, .stacks = UINT32_MAX, .ops = UINT32_MAX};
};

// A reader's place in a followed session. Thread-compatible.
class FollowReader {
 public:
  virtual ~FollowReader() = default;
  // Fills `message` with what comes next. False: nothing has come since. NOT_FOUND when the session
  // is not there any more.
  virtual absl::StatusOr<bool> Next(v1::FollowResponse& message) = 0;
};

// A run of sealing that is ready to be published.
class PreparedSeal {
 public:
  virtual ~PreparedSeal() = default;
};

// When what is rewritten, and how long what was rewritten is kept for those who follow.
struct SealOptions {
  // Events of one run at most: bounds its memory.
  size_t run_events = 262'144;
  // While a session is written, a lane is sealed once it has this many events that are not.
  size_t live_lane_events = 65'536;
  // and of it only blocks that end so long before its newest one: what comes out of order comes
  // within.
  int64_t reorder_ns = 250'000'000;
  // Events of a sealed block.
  size_t block_events = trace::kMaxBlockEvents;
  // Appends are kept as they came for so long, for readers who follow.
  int64_t keep_log_ns = 60'000'000'000;
};

// What trimming has left of a session's log.
enum class LogLeft {
  kNothing,
  kYoung,  // entries that are kept for followers, or whose blocks are not sealed yet
  kOld,    // entries that could go: trim again
};

class Store {
 public:
  // Returning false ends the read early; the read then returns OK.
  using BlockVisitor = std::function<bool(v1::StoredBlock)>;
  // Told of the events of all blocks that will be visited, before the first of them.
  using SelectionVisitor = std::function<void(uint64_t events)>;
  using DictionaryVisitor = std::function<bool(DictionaryDelta)>;

  virtual ~Store() = default;

  // Exclusive. Applies the items in order, atomically and durably as a whole; each gets its own
  // status (AppendRequest's errors, see store.proto). An item that repeats a stored sequence is OK
  // and changes nothing.
  virtual void Commit(std::span<AppendItem> items) = 0;

  // Newest first. Filters by project and host. Page tokens are opaque; a bad one is
  // INVALID_ARGUMENT.
  virtual absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const v1::ListSessionsRequest& request) = 0;

  // NOT_FOUND when there is none.
  virtual absl::StatusOr<v1::GetSessionResponse> GetSession(const std::string& session_id) = 0;
  virtual absl::StatusOr<v1::ListLanesResponse> ListLanes(const std::string& session_id) = 0;

  // Blocks that overlap the window [start, end), by their first event's start; a block whose last
  // event ends at the window's start counts.
  virtual absl::Status ReadBlocks(const v1::ReadBlocksRequest& request,
                                  const SelectionVisitor& selected, const BlockVisitor& visit) = 0;
  absl::Status ReadBlocks(const v1::ReadBlocksRequest& request, const BlockVisitor& visit) {
    return ReadBlocks(
        request, [](uint64_t) {}, visit);
  }

  // Entries in id order per table, in pieces; strings before what names them. Symbols of the
  // frames in the range, as far as they name strings in it, come last.
  virtual absl::Status ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                                      const DictionaryVisitor& visit) = 0;

  // What a session has and gets; see StoreService.Follow. NOT_FOUND when there is none.
  virtual absl::StatusOr<std::unique_ptr<FollowReader>> Follow(
      const v1::FollowRequest& request) = 0;

  // See StoreService.GetDensity and GetTiles. `stop` is asked now and then: CANCELLED when it says
  // so.
  virtual absl::StatusOr<v1::GetDensityResponse> GetDensity(
      const v1::GetDensityRequest& request) = 0;
  virtual absl::StatusOr<v1::GetTilesResponse> GetTiles(const v1::GetTilesRequest& request,
                                                        const std::function<bool()>& stop) = 0;

  // Sessions in which something is not sealed, or the log could be trimmed, for a start.
  virtual absl::StatusOr<std::vector<std::string>> SessionsToTend() = 0;
  // Prepares the next run of a session; null when there is nothing to seal in it (yet).
  virtual absl::StatusOr<std::unique_ptr<PreparedSeal>> PrepareSeal(
      const std::string& session_id) = 0;
  // Exclusive. On error nothing has changed. FAILED_PRECONDITION when the session is not as it was.
  virtual absl::Status PublishSeal(PreparedSeal& seal) = 0;
  // Exclusive. Forgets what is kept for followers alone and is old enough, a bounded piece of it at
  // a time.
  virtual absl::StatusOr<LogLeft> TrimLog(const std::string& session_id) = 0;

  // Exclusive. The session is gone once this returns. OK also when there is none.
  virtual absl::Status Delete(const std::string& session_id) = 0;
  // Gives back the space of a deleted session sooner than it would be.
  virtual void Reclaim(const std::string& session_id) = 0;
  // Gives back the space of what was trimmed, once there is enough of it to be worth the work.
  virtual void ReclaimTrimmed() = 0;

  // Bytes of all sessions: blocks and their index, without what the database adds.
  virtual uint64_t StoredBytes() const = 0;
};

// Blocks and their index.
inline uint64_t StoredBytesOf(const SessionSummary& summary) {
  return summary.stored_bytes() + summary.index_bytes();
}

// OK for 32 lower-case hexadecimal digits, else INVALID_ARGUMENT.
absl::Status CheckSessionId(const std::string& session_id);

}  // namespace nanolane::store
