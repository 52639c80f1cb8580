// GetDensity: rows of the level that fits, session by session.
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/density_rows.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_store.h"

namespace nanolane::store {
namespace {

constexpr int kMostSessions = 10'000;

struct DensitySession {
  std::string key;
  int finest = 0;
  v1::DensityRow coarsest;
};

constexpr int kLevels = timeline::DensityPyramid::kLevels;
constexpr int kRowShift = 6;
static_assert(timeline::DensityPyramid::kRowBins == 1 << kRowShift);

int64_t RowsPerIndex(int rows_shift) { return rows_shift >= 0 ? 0 : (int64_t{1} << -rows_shift); }

absl::Status AddRows(RocksDb& db, const rocksdb::ReadOptions& options,
                     const DensitySession& session, int level, DensityAnswer& answer) {
  const std::string prefix = DensityPrefix(session.key, level);
  const std::unique_ptr<rocksdb::Iterator> at = db.Iterate(options, Family::kDensity);
  // Of the answer's first and last bin all that is in them, also beyond the window.
  const int to_level = std::max(level, answer.level());
  const auto [first, last] = answer.IndexRange(to_level);
  const int rows_shift = kRowShift - (to_level - level);  // from an index of the answer to a row
  const auto row_of = [&](int64_t index) {
    return rows_shift >= 0 ? index >> rows_shift : index * (int64_t{1} << -rows_shift);
  };
  at->Seek(answer.has_window() ? DensityKey(session.key, level, row_of(first)) : prefix);
  for (; at->Valid() && at->key().starts_with(prefix); at->Next()) {
    const int64_t row = ParseDensityKey(at->key().ToStringView()).second;
    if (answer.has_window() && row > row_of(last) + RowsPerIndex(rows_shift)) break;
    v1::DensityRow stored;
    if (!stored.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored row of density is not readable");
    }
    answer.Add(level, FromRow(stored));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::GetDensityResponse> RocksStore::GetDensity(
    const v1::GetDensityRequest& request) {
  if (request.session_ids_size() > kMostSessions) {
    return absl::InvalidArgumentError(
        base::StrCat("at most ", kMostSessions, " sessions at once; ask for fewer"));
  }
  ASSIGN_OR_RETURN(DensityAnswer answer, DensityAnswer::Create(request));
  const Snapshot snapshot(db_->db());
  std::vector<DensitySession> sessions;
  for (const std::string& id : request.session_ids()) {
    RETURN_IF_ERROR(CheckSessionId(id));
    v1::SessionRecord record;
    const std::string key = SessionKey(id);
    ASSIGN_OR_RETURN(const bool found,
                     db_->Get(snapshot.options(), Family::kSessions, key, record));
    if (!found) continue;
    DensitySession& session = sessions.emplace_back();
    session.key = key;
    session.finest = static_cast<int>(record.density_level());
    session.coarsest.Swap(record.mutable_density_coarsest());
    ExpectExtent(record, answer);
  }
  for (const DensitySession& session : sessions) {
    const int level = timeline::LevelToRead(session.finest, answer.level());
    if (level == session.finest + (kLevels - 1) * timeline::DensityPyramid::kLevelStep) {
      answer.Add(level, FromRow(session.coarsest));
      continue;
    }
    RETURN_IF_ERROR(AddRows(*db_, snapshot.options(), session, level, answer));
  }
  return answer.Finish();
}

}  // namespace nanolane::store
