#include "services/store/rocks_db.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/keys.h"
#include "services/store/rocks_status.h"

namespace nanolane::store {
namespace {

constexpr const char* kFormatKey = "format";
constexpr size_t kCacheBytes = 64 << 20;
constexpr size_t kWriteBufferBytes = 128 << 20;
// Background writes leave the disk to the WAL's syncs.
constexpr int64_t kBackgroundBytesPerSecond = int64_t{400} << 20;

rocksdb::Options DatabaseOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  options.wal_bytes_per_sync = 1 << 20;
  options.max_total_wal_size = 256 << 20;
  options.keep_log_file_num = 4;
  options.max_open_files = 1'024;
  options.info_log_level = rocksdb::WARN_LEVEL;
  // A start reads no more than it must: sizes and statistics of files are not needed.
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(kWriteBufferBytes);
  options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(kBackgroundBytesPerSecond));
  return options;
}

rocksdb::BlockBasedTableOptions TableOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // Filters and indexes of many files count against the cache: memory stays bounded.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  return table;
}

// Records, dictionaries, indexes: small, read often.
rocksdb::ColumnFamilyOptions SmallValues(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(cache)));
  options.write_buffer_size = 16 << 20;
  options.level_compaction_dynamic_level_bytes = true;
  // What is young is rewritten soon: cheap there, small where it stays.
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kZSTD;
  return options;
}

rocksdb::ColumnFamilyOptions OfSession(rocksdb::ColumnFamilyOptions options) {
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kSessionKeyBytes));
  options.memtable_prefix_bloom_size_ratio = 0.02;
  return options;
}

// Encoded blocks as they are appended: compressed already, deleted once they are sealed.
rocksdb::ColumnFamilyOptions Blocks(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options = OfSession(SmallValues(cache));
  options.write_buffer_size = 32 << 20;
  options.max_write_buffer_number = 4;
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kNoCompression;
  options.enable_blob_files = true;
  options.min_blob_size = 512;
  options.blob_file_size = 64 << 20;
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1.0;
  options.blob_garbage_collection_force_threshold = 0.5;
  return options;
}

// Sealed blocks and their index: written once as whole files, packed already.
rocksdb::ColumnFamilyOptions Sealed(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options = OfSession(SmallValues(cache));
  rocksdb::BlockBasedTableOptions table = TableOptions(cache);
  table.block_size = 1 << 10;         // a group alone: no more is read than is wanted
  table.max_auto_readahead_size = 0;  // readers say what they read in sequence
  // A view of many events reads far more than a cache holds, each piece once: a cache would only
  // cost its upkeep. Indexes of files stay in memory with the file, of which max_open_files are
  // open.
  table.no_block_cache = true;
  table.cache_index_and_filter_blocks = false;
  table.pin_l0_filter_and_index_blocks_in_cache = false;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kNoCompression;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RocksDb>> RocksDb::Open(const std::string& path) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kCacheBytes);
  const rocksdb::ColumnFamilyOptions small = SmallValues(cache);
  const rocksdb::ColumnFamilyOptions session = OfSession(small);
  const std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {
      {rocksdb::kDefaultColumnFamilyName, small},
      {"sessions", session},
      {"by_time", small},
      {"epochs", session},
      {"lanes", session},
      {"dictionary", session},
      {"index", session},
      {"blocks", Blocks(cache)},
      {"log", session},
      {"density", session},
      {"rows", session},
      {"sealed", Sealed(cache)}};
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status =
      rocksdb::DB::Open(DatabaseOptions(), path, descriptors, &handles, &opened);
  if (status.IsIOError() && status.ToString().find("lock") != std::string::npos) {
    return absl::FailedPreconditionError(base::StrCat(
        "the store in ", path, " is open in another process; end that one, or use another folder"));
  }
  RETURN_IF_ERROR(FromRocks(status, base::StrCat("opening the store in ", path)));
  std::unique_ptr<RocksDb> database(new RocksDb(path));
  database->db_.reset(opened);
  std::copy(handles.begin(), handles.end(), database->families_.begin());
  RETURN_IF_ERROR(database->CheckFormat());
  return database;
}

RocksDb::~RocksDb() {
  for (rocksdb::ColumnFamilyHandle* handle : families_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  const rocksdb::Status closed = db_->Close();
  if (!closed.ok()) base::LogError("store", base::StrCat("closing: ", closed.ToString()));
}

absl::Status RocksDb::CheckFormat() {
  std::string format;
  const rocksdb::Status status = db_->Get({}, family(Family::kMeta), kFormatKey, &format);
  const std::string ours = base::StrCat(kFormatVersion);
  if (status.IsNotFound()) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return FromRocks(db_->Put(synced, family(Family::kMeta), kFormatKey, ours),
                     "writing the format version");
  }
  RETURN_IF_ERROR(FromRocks(status, "reading the format version"));
  if (format != ours) {
    return absl::FailedPreconditionError(
        base::StrCat("the store has format ", format, ", this program reads ", ours,
                     "; use the version that wrote it, or another folder"));
  }
  return absl::OkStatus();
}

std::unique_ptr<rocksdb::Iterator> RocksDb::Iterate(const rocksdb::ReadOptions& options,
                                                    Family of) {
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family(of)));
}

absl::StatusOr<bool> RocksDb::Get(const rocksdb::ReadOptions& options, Family from,
                                  std::string_view key, google::protobuf::MessageLite& to) {
  rocksdb::PinnableSlice bytes;
  const rocksdb::Status status = db_->Get(options, family(from), ToSlice(key), &bytes);
  if (status.IsNotFound()) return false;
  RETURN_IF_ERROR(FromRocks(status, "reading a record"));
  if (!to.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError(base::StrCat("a stored ", to.GetTypeName(), " is not readable"));
  }
  return true;
}

absl::Status RocksDb::Visit(
    const rocksdb::ReadOptions& options, Family from, std::string_view prefix,
    const std::function<absl::StatusOr<bool>(std::string_view, std::string_view)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> at = Iterate(options, from);
  for (at->Seek(ToSlice(prefix)); at->Valid() && at->key().starts_with(ToSlice(prefix));
       at->Next()) {
    ASSIGN_OR_RETURN(const bool more, visit(at->key().ToStringView(), at->value().ToStringView()));
    if (!more) return absl::OkStatus();
  }
  return FromRocks(at->status(), "reading records");
}

absl::Status RocksDb::Write(rocksdb::WriteBatch& batch, std::string_view doing) {
  rocksdb::WriteOptions synced;
  synced.sync = true;
  return FromRocks(db_->Write(synced, &batch), doing);
}

void RocksDb::Put(rocksdb::WriteBatch& batch, Family to, std::string_view key,
                  const google::protobuf::MessageLite& value) const {
  batch.Put(family(to), ToSlice(key), value.SerializeAsString()).PermitUncheckedError();
}

}  // namespace nanolane::store
