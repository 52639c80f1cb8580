// The store on RocksDB: the only place, with the rules service, that names it.
//
// Column families: sessions, by_time, epochs, lanes, dictionary, index, blocks
// (docs/storage-format.md). Blocks lie in blob files, so that compaction moves keys and not events.
// A commit is one write batch with a synced WAL. Thread-safe as Store says; lock order: ledgers are
// the committer's alone, reads take no lock.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "libs/base/clock.h"
#include "services/store/session_ledger.h"
#include "services/store/store.h"

namespace nanolane::store {

class RocksStore final : public Store {
 public:
  // Opens or creates the store in folder `path`. FAILED_PRECONDITION when another process has it
  // open or a newer version wrote it; PERMISSION_DENIED or NOT_FOUND for the folder.
  static absl::StatusOr<std::unique_ptr<RocksStore>> Open(const std::string& path,
                                                          const base::Clock& clock);
  ~RocksStore() override;

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
  enum Family { kMeta, kSessions, kByTime, kEpochs, kLanes, kDictionary, kIndex, kBlocks };
  static constexpr size_t kFamilyCount = 8;
  struct Touched;
  struct TableRange;

  explicit RocksStore(const base::Clock& clock) : clock_(clock) {}

  absl::Status CheckFormat();
  rocksdb::ColumnFamilyHandle* family(Family family) const { return families_[family]; }

  // The session's ledger, from the cache or from disk; null when it is not stored.
  absl::StatusOr<SessionLedger*> FindLedger(const std::string& session_id);
  absl::StatusOr<std::unique_ptr<SessionLedger>> LoadLedger(const std::string& session_key);
  SessionLedger* Cache(const std::string& session_id, std::unique_ptr<SessionLedger> ledger);

  absl::Status CommitOne(AppendItem& item, std::map<std::string, Touched>& touched,
                         rocksdb::WriteBatch& batch);
  void WriteBlocks(const AppendItem& item, const Applied& applied, rocksdb::WriteBatch& batch);
  void WriteDictionary(const AppendItem& item, const trace::DictionarySizes& before,
                       rocksdb::WriteBatch& batch);
  void WriteTouched(const std::map<std::string, Touched>& touched, rocksdb::WriteBatch& batch);

  absl::StatusOr<std::vector<v1::StoredLane>> ReadLanes(const std::string& session_key,
                                                        const rocksdb::ReadOptions& options);
  absl::StatusOr<bool> HasSession(const std::string& session_key);
  absl::Status ReadTable(const TableRange& range, const rocksdb::ReadOptions& options,
                         const DictionaryVisitor& visit, bool& more);
  absl::Status ReadSymbols(const TableRange& frames, uint32_t last_string,
                           const rocksdb::ReadOptions& options, const DictionaryVisitor& visit);

  const base::Clock& clock_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilyCount> families_{};

  // Ledgers of the sessions written last, most recent first. Only Commit and Delete touch them.
  std::list<std::pair<std::string, std::unique_ptr<SessionLedger>>> recent_;
  std::unordered_map<std::string, decltype(recent_)::iterator> ledgers_;
};

}  // namespace nanolane::store
