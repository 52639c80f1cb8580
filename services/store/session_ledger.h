// The rules of appending to one session, apart from where its data is kept: sequences, dictionary
// completeness, lane ids, extents, counts, density, and the log of commits.
//
// A ledger is loaded from what a store kept, applies appends and seals, and says what to keep.
// Apply() checks a whole request before it changes anything. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/timeline/density.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/dictionary.h"
#include "nanolane/store/v1/disk.pb.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::store {

struct EpochState {
  uint64_t sequence = 0;  // last one stored
  trace::DictionarySizes dictionary;
  std::map<trace::LaneId, uint32_t> lanes;  // writer's lane id → session's lane id
};

// Kinds of an epoch's ops; index 0 is the null op.
using OpKinds = std::vector<trace::EventKind>;

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
  v1::LogEntry log;  // its number is the ledger's commits()
};

// What a sealing run did to one lane.
struct SealedLane {
  uint32_t lane_id = 0;
  uint64_t events = 0;
  uint64_t blocks_taken = 0;  // not sealed before
  uint64_t blocks_made = 0;
};

// What a sealing run did to a session.
struct SealedRun {
  std::vector<SealedLane> lanes;
  uint64_t events = 0;
  uint64_t bytes_taken = 0;
  uint64_t bytes_made = 0;
  uint64_t index_bytes = 0;
};

// Everything that a store keeps of a ledger.
struct LedgerState {
  v1::SessionRecord record;
  std::map<uint64_t, EpochState> epochs;
  std::vector<v1::StoredLane> lanes;  // [lane id - 1]
  std::map<uint64_t, OpKinds> op_kinds;
  timeline::DensityPyramid density;
};

class SessionLedger {
 public:
  // Of a session that is not stored yet.
  SessionLedger(const trace::v1::Session& session, int64_t created_unix_ns);
  // Of a stored one.
  explicit SessionLedger(LedgerState state);

  // Applies one request of `epoch`. Errors leave the ledger as it was:
  //   INVALID_ARGUMENT     malformed block or dictionary;
  //   FAILED_PRECONDITION  a gap before the sequence, or a block that needs dictionary entries or
  //                        a lane that the epoch has not sent.
  absl::StatusOr<Applied> Apply(uint64_t epoch, const v1::AppendRequest& request, int64_t unix_ns);

  // Takes note of a run that was sealed; returns its log entry.
  v1::LogEntry ApplySeal(const SealedRun& run, int64_t unix_ns);
  void TrimLog(uint64_t up_to) { state_.record.set_log_trimmed(up_to); }

  const v1::SessionRecord& record() const { return state_.record; }
  const trace::v1::SessionSummary& summary() const { return state_.record.summary(); }
  const std::map<uint64_t, EpochState>& epochs() const { return state_.epochs; }
  const std::vector<v1::StoredLane>& lanes() const { return state_.lanes; }
  uint64_t commits() const { return state_.record.commits(); }
  uint64_t SequenceOf(uint64_t epoch) const;

  void SetCoarsestDensity(v1::DensityRow row) {
    state_.record.mutable_density_coarsest()->Swap(&row);
  }
  const timeline::DensityPyramid& density() const { return state_.density; }
  std::set<timeline::DensityPyramid::RowKey> TakeChangedDensity() {
    return state_.density.TakeChangedRows();
  }

 private:
  // A request's blocks, checked and decoded as far as counting needs it.
  struct CheckedBlocks {
    std::vector<PlacedBlock> placed;
    std::vector<trace::EventColumns> events;
  };

  absl::StatusOr<CheckedBlocks> CheckBlocks(const EpochState& epoch,
                                            const v1::AppendRequest& request) const;
  uint32_t InternLane(const trace::v1::Lane& lane);
  void AddOpKinds(uint64_t epoch, const v1::AppendRequest& request);
  void Count(const v1::AppendRequest& request, const std::vector<PlacedBlock>& blocks);
  void CountKinds(uint64_t epoch, const CheckedBlocks& blocks);
  void CountLosses(const v1::AppendRequest& request);
  void Log(uint64_t epoch, const v1::AppendRequest& request, size_t lanes_before, int64_t unix_ns,
           Applied& applied);
  trace::v1::SessionSummary& mutable_summary() { return *state_.record.mutable_summary(); }

  LedgerState state_;
  std::map<std::string, uint32_t> lane_ids_;  // by the lane's serialized bytes
};

}  // namespace nanolane::store
