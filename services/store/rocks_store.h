// The store on RocksDB: the only place, with the rules service, that names it.
//
// docs/storage-format.md has the keys and what always holds. A commit is one write batch with a
// synced WAL. A seal is ingested as a file that nobody sees, then published by one write batch.
// Thread-safe as Store says. Ledgers are the exclusive callers' alone; reads take a snapshot and no
// lock.
//
// rocks_store.cc commits and deletes, rocks_store_read.cc reads; rocks_density.cc, rocks_tiles.cc,
// rocks_follow.cc, rocks_seal.cc (with rocks_run.h) and rocks_trim.cc do what they are called.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "libs/base/clock.h"
#include "services/store/keys.h"
#include "services/store/op_labels.h"
#include "services/store/rocks_db.h"
#include "services/store/session_ledger.h"
#include "services/store/store.h"

namespace nanolane::store {

struct RocksStoreOptions {
  std::string path;
  SealOptions seal;
  // Appends are refused beyond so many stored bytes; 0: no bound.
  uint64_t max_bytes = 0;
  // Appends are refused while the disk has less free than this.
  uint64_t min_free_bytes = 256 << 20;
  // Raw blocks that were trimmed are cleared away once there are so many bytes of them, and not
  // before they are half of what the raw blocks take: a byte moved for a byte given back at most.
  uint64_t reclaim_bytes = 256 << 20;
};

class RocksStore final : public Store {
 public:
  // Opens or creates the store in a folder. FAILED_PRECONDITION when another process has it open or
  // another version wrote it; PERMISSION_DENIED or NOT_FOUND for the folder.
  static absl::StatusOr<std::unique_ptr<RocksStore>> Open(const RocksStoreOptions& options,
                                                          const base::Clock& clock);

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
  void Reclaim(const std::string& session_id) override;
  void ReclaimTrimmed() override;
  uint64_t StoredBytes() const override { return stored_bytes_.load(); }

  // Copies the store as it is now into the folder "checkpoints" of its own; returns the copy's.
  // Thread-safe. INVALID_ARGUMENT for a bad name, ALREADY_EXISTS.
  absl::StatusOr<std::string> CreateCheckpoint(const std::string& name);

 private:
  struct Touched;

  RocksStore(const RocksStoreOptions& options, const base::Clock& clock,
             std::unique_ptr<RocksDb> database)
      : options_(options), clock_(clock), db_(std::move(database)) {}

  // What a start does: sums up sizes, and removes what a crash left of a seal.
  absl::Status Recover();
  absl::Status SweepRuns(const std::string& session_key, uint32_t next_run);

  absl::Status CheckRoom() const;
  absl::Status CheckStillThere(const std::string& session_id, int64_t created_unix_ns, uint32_t run,
                               const std::vector<BlockKey>& taken);
  absl::StatusOr<bool> DeleteRawBlocks(const std::string& session_key, const v1::LogEntry& entry,
                                       rocksdb::WriteBatch& batch);
  absl::StatusOr<std::shared_ptr<const EpochLabels>> LabelsOfEpoch(
      const EpochOfSession& epoch, std::string_view record, const rocksdb::ReadOptions& options);

  // The session's ledger, from the cache or from disk; null when it is not stored.
  absl::StatusOr<SessionLedger*> FindLedger(const std::string& session_id);
  absl::StatusOr<std::unique_ptr<SessionLedger>> LoadLedger(const std::string& session_key);
  absl::Status LoadOpKinds(const std::string& session_key, LedgerState& state);
  absl::Status LoadDensity(const std::string& session_key, LedgerState& state);
  SessionLedger* Cache(const std::string& session_id, std::unique_ptr<SessionLedger> ledger);
  void ForgetLedger(const std::string& session_id);

  absl::Status CommitOne(AppendItem& item, std::map<std::string, Touched>& touched,
                         rocksdb::WriteBatch& batch);
  void WriteBlocks(const AppendItem& item, const Applied& applied, rocksdb::WriteBatch& batch);
  void WriteDictionary(const AppendItem& item, const trace::DictionarySizes& before,
                       rocksdb::WriteBatch& batch);
  void WriteTouched(const std::map<std::string, Touched>& touched, rocksdb::WriteBatch& batch);
  bool WriteDensity(const std::string& session_key, SessionLedger& ledger,
                    rocksdb::WriteBatch& batch);

  const RocksStoreOptions options_;
  const base::Clock& clock_;
  const std::unique_ptr<RocksDb> db_;
  OpLabels op_labels_;
  std::atomic<uint64_t> stored_bytes_ = 0;
  std::atomic<uint64_t> trimmed_bytes_ = 0;  // not reclaimed yet

  // Exclusive callers alone touch what follows.
  uint64_t uncommitted_bytes_ = 0;
  // Ledgers of the sessions written last, most recent first.
  std::list<std::pair<std::string, std::unique_ptr<SessionLedger>>> recent_;
  std::unordered_map<std::string, decltype(recent_)::iterator> ledgers_;
};

}  // namespace nanolane::store
