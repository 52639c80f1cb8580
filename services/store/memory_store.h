// A store in memory: the oracle that the contract suite holds the RocksDB one against, and the
// store of tests that need no disk.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "libs/base/clock.h"
#include "libs/base/mutex.h"
#include "services/store/session_ledger.h"
#include "services/store/store.h"

namespace nanolane::store {

// Thread-safe. Nothing is durable.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const base::Clock& clock) : clock_(clock) {}

  void Commit(std::span<AppendItem> items) override;
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const v1::ListSessionsRequest& request) override;
  absl::StatusOr<v1::GetSessionResponse> GetSession(const std::string& session_id) override;
  absl::StatusOr<v1::ListLanesResponse> ListLanes(const std::string& session_id) override;
  absl::Status ReadBlocks(const v1::ReadBlocksRequest& request, const BlockVisitor& visit) override;
  absl::Status ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                              const DictionaryVisitor& visit) override;
  absl::Status Delete(const std::string& session_id) override;

 private:
  struct Kept {
    SessionLedger ledger;
    std::vector<v1::StoredBlock> blocks;               // in order of arrival
    std::map<uint64_t, DictionaryDelta> dictionaries;  // whole, by epoch
  };

  void CommitOne(AppendItem& item);

  const base::Clock& clock_;
  base::Mutex mutex_;
  std::map<std::string, Kept> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::store
