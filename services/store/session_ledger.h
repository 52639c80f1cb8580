// The rules of appending to one session, apart from where its data is kept: sequences, dictionary
// completeness, lane ids, extents and counts.
//
// A ledger is loaded from what a store kept, applies appends, and says what to keep. Apply()
// checks a whole request before it changes anything. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/dictionary.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::store {

struct EpochState {
  uint64_t sequence = 0;  // last one stored
  trace::DictionarySizes dictionary;
  std::map<trace::LaneId, uint32_t> lanes;  // writer's lane id → session's lane id
};

// A block of a request and where it goes.
struct PlacedBlock {
  uint32_t lane_id = 0;
  trace::BlockHeader header;
  int index = 0;  // into AppendRequest.blocks
};

// What applying a request changed.
struct Applied {
  bool duplicate = false;  // nothing changed
  trace::DictionarySizes dictionary_before;
  std::vector<PlacedBlock> blocks;
};

class SessionLedger {
 public:
  // Of a session that is not stored yet.
  explicit SessionLedger(const trace::v1::Session& session, int64_t created_unix_ns);
  // Of a stored one.
  SessionLedger(trace::v1::SessionSummary summary, std::map<uint64_t, EpochState> epochs,
                std::vector<v1::StoredLane> lanes);

  // Applies one request of `epoch`. Errors leave the ledger as it was:
  //   INVALID_ARGUMENT     malformed block or dictionary;
  //   FAILED_PRECONDITION  a gap before the sequence, or a block that needs dictionary entries or
  //                        a lane that the epoch has not sent.
  absl::StatusOr<Applied> Apply(uint64_t epoch, const v1::AppendRequest& request);

  const trace::v1::SessionSummary& summary() const { return summary_; }
  const std::map<uint64_t, EpochState>& epochs() const { return epochs_; }
  const std::vector<v1::StoredLane>& lanes() const { return lanes_; }
  uint64_t SequenceOf(uint64_t epoch) const;

 private:
  absl::StatusOr<std::vector<PlacedBlock>> CheckBlocks(const EpochState& epoch,
                                                       const v1::AppendRequest& request) const;
  uint32_t InternLane(const trace::v1::Lane& lane);
  void Count(const v1::AppendRequest& request, const std::vector<PlacedBlock>& blocks);

  trace::v1::SessionSummary summary_;
  std::map<uint64_t, EpochState> epochs_;
  std::vector<v1::StoredLane> lanes_;         // [lane id - 1]
  std::map<std::string, uint32_t> lane_ids_;  // by the lane's serialized bytes
};

}  // namespace nanolane::store
