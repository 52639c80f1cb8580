// A store in memory: the oracle that the contract suite holds the RocksDB one against, and the
// store of tests that need no disk.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "libs/base/clock.h"
#include "libs/base/mutex.h"
#include "services/store/keys.h"
#include "services/store/session_ledger.h"
#include "services/store/store.h"

namespace nanolane::store {

// Thread-safe. Nothing is durable.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const base::Clock& clock, const SealOptions& seal = {},
                       uint64_t max_bytes = 0)
      : clock_(clock), seal_(seal), max_bytes_(max_bytes) {}

  void Commit(std::span<AppendItem> items) override;
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const v1::ListSessionsRequest& request) override;
  absl::StatusOr<v1::GetSessionResponse> GetSession(const std::string& session_id) override;
  absl::StatusOr<v1::ListLanesResponse> ListLanes(const std::string& session_id) override;
  using Store::ReadBlocks;
  absl::Status ReadBlocks(const v1::ReadBlocksRequest& request, const SelectionVisitor& selected,
                          const BlockVisitor& visit) override;
  absl::Status ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                              const DictionaryVisitor& visit) override;
  absl::StatusOr<std::unique_ptr<FollowReader>> Follow(const v1::FollowRequest& request) override;
  absl::StatusOr<v1::GetDensityResponse> GetDensity(const v1::GetDensityRequest& request) override;
  absl::StatusOr<v1::GetTilesResponse> GetTiles(const v1::GetTilesRequest& request,
                                                const std::function<bool()>& stop) override;
  absl::StatusOr<std::vector<std::string>> SessionsToTend() override;
  absl::StatusOr<std::unique_ptr<PreparedSeal>> PrepareSeal(const std::string& session_id) override;
  absl::Status PublishSeal(PreparedSeal& seal) override;
  absl::StatusOr<LogLeft> TrimLog(const std::string& session_id) override;
  absl::Status Delete(const std::string& session_id) override;
  void Reclaim(const std::string& /*session_id*/) override {}
  void ReclaimTrimmed() override {}
  uint64_t StoredBytes() const override;

 private:
  class Follower;
  class Seal;
  struct KeptBlock {
    v1::StoredBlock block;
    BlockKey key;
    bool current = true;  // false: sealed, kept for followers alone
  };
  struct Kept {
    SessionLedger ledger;
    std::vector<KeptBlock> blocks;                     // in order of arrival
    std::map<uint64_t, DictionaryDelta> dictionaries;  // whole, by epoch
    // The requests as they came, by number; null: a seal.
    std::map<uint64_t, std::unique_ptr<v1::AppendRequest>> log;
    std::map<uint64_t, v1::LogEntry> entries;
  };

  void CommitOne(AppendItem& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Kept*> Find(const std::string& session_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::Clock& clock_;
  const SealOptions seal_;
  const uint64_t max_bytes_;
  mutable base::Mutex mutex_;
  std::map<std::string, Kept> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::store
