// What every store does, whatever it keeps the data in.
//
// A session is written by *epochs*: a writer opens one with its own dictionary ids and numbers its
// appends from 1. Commit() applies appends atomically; those it reports OK for are durable. Reads
// see one consistent state for as long as they last.
//
// Implementations are thread-safe for reads; Commit and Delete are called by one thread at a time
// (the Committer's).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

class Store {
 public:
  // Returning false ends the read early; the read then returns OK.
  using BlockVisitor = std::function<bool(v1::StoredBlock)>;
  using DictionaryVisitor = std::function<bool(DictionaryDelta)>;

  virtual ~Store() = default;

  // Applies the items in order, atomically and durably as a whole; each gets its own status
  // (AppendRequest's errors, see store.proto). An item that repeats a stored sequence is OK and
  // changes nothing.
  virtual void Commit(std::span<AppendItem> items) = 0;

  // Newest first. Filters by project and host. Page tokens are opaque; a bad one is
  // INVALID_ARGUMENT.
  virtual absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const v1::ListSessionsRequest& request) = 0;

  // NOT_FOUND when there is none.
  virtual absl::StatusOr<v1::GetSessionResponse> GetSession(const std::string& session_id) = 0;
  virtual absl::StatusOr<v1::ListLanesResponse> ListLanes(const std::string& session_id) = 0;

  // Blocks that overlap the window [start, end), by their first event's start; a block whose last
  // event ends at the window's start counts. Blocks of a newer version than asked for are
  // FAILED_PRECONDITION.
  virtual absl::Status ReadBlocks(const v1::ReadBlocksRequest& request,
                                  const BlockVisitor& visit) = 0;

  // Entries in id order per table, in pieces; strings before what names them. Symbols of the
  // frames in the range, as far as they name strings in it, come last.
  virtual absl::Status ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                                      const DictionaryVisitor& visit) = 0;

  // OK also when there is none.
  virtual absl::Status Delete(const std::string& session_id) = 0;
};

// OK for 32 lower-case hexadecimal digits, else INVALID_ARGUMENT.
absl::Status CheckSessionId(const std::string& session_id);

}  // namespace nanolane::store
