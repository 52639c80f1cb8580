#include "services/store/rocks_run.h"

#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/timeline/tiles/build_row.h"
#include "libs/timeline/tiles/plan_rows.h"
#include "libs/timeline/tiles/visit_spans.h"
#include "services/store/bundle.h"
#include "services/store/rocks_status.h"
#include "services/store/tile_answer.h"

namespace nanolane::store {
namespace {

// The union of what is sealed of a lane: rows of former runs, in the database, and those of this
// run that are planned already.
class LaneCover final : public timeline::SealedCover {
 public:
  LaneCover(RocksDb& db, const rocksdb::ReadOptions& options, const std::string& session_key,
            const std::vector<StoredRow>& stored)
      : pieces_(db, options, session_key), stored_(stored) {}

  void Add(const timeline::PlannedRow& row) {
    if (row.role.covers) planned_.push_back(row.spans);
  }

  std::optional<int64_t> End() override {
    std::optional<int64_t> end;
    for (const StoredRow& row : stored_) {
      if (row.row.covers()) end = std::max(end.value_or(row.row.end_ns()), row.row.end_ns());
    }
    for (const auto& spans : planned_) {
      for (const timeline::TileSpan& span : spans) {
        end = std::max(end.value_or(span.end_ns), span.end_ns);
      }
    }
    return end;
  }

  absl::Status Visit(int64_t from_ns, int64_t to_ns,
                     absl::FunctionRef<void(int64_t, int64_t)> visit) override {
    const timeline::Window window = {.start_ns = from_ns, .end_ns = to_ns};
    for (const StoredRow& row : stored_) {
      if (!row.row.covers() || row.row.start_ns() >= to_ns || row.row.end_ns() <= from_ns) continue;
      RocksRowSource source(pieces_, row.key, row.row.spans());
      RETURN_IF_ERROR(timeline::VisitSpans(
          row.row.root(), source, window,
          [&](const timeline::TileSpan& span) { visit(span.start_ns, span.end_ns); }));
    }
    for (const auto& spans : planned_) {
      for (const timeline::TileSpan& span : spans) {
        if (span.start_ns < to_ns && span.end_ns > from_ns) visit(span.start_ns, span.end_ns);
      }
    }
    return absl::OkStatus();
  }

 private:
  RowPieces pieces_;
  const std::vector<StoredRow>& stored_;
  std::vector<std::vector<timeline::TileSpan>> planned_;
};

v1::SealedRow LevelsRecord(const EpochEvents& epoch) {
  v1::SealedRow record;
  record.set_epoch(epoch.epoch);
  record.set_start_ns(epoch.levels.front().time_ns);
  record.set_end_ns(epoch.levels.back().time_ns);
  record.set_spans(epoch.levels.size());
  return record;
}

v1::SealedRow SpansRecord(uint64_t epoch, const timeline::PlannedRow& row) {
  v1::SealedRow record;
  record.set_epoch(epoch);
  record.set_kind(static_cast<uint32_t>(row.kind));
  record.set_events(row.role.events);
  record.set_covers(row.role.covers);
  record.set_start_ns(row.spans.front().start_ns);
  int64_t end_ns = row.spans.front().end_ns;
  for (const timeline::TileSpan& span : row.spans) end_ns = std::max(end_ns, span.end_ns);
  record.set_end_ns(end_ns);
  record.set_spans(row.spans.size());
  return record;
}

}  // namespace

RunBuilder::RunBuilder(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_id,
                       const v1::SessionRecord& record, size_t block_events)
    : db_(db),
      options_(options),
      block_events_(block_events),
      session_key_(SessionKey(session_id)),
      seal_(std::make_unique<RocksSeal>()) {
  seal_->session_id = std::move(session_id);
  seal_->created_unix_ns = record.summary().created_unix_ns();
  seal_->number = record.next_run();
}

absl::Status RunBuilder::AddLane(const RawLane& lane, const v1::StoredLane& stored,
                                 const std::map<uint64_t, trace::LaneId>& writer_lanes) {
  std::vector<RawBytes> bytes;
  uint64_t events = 0;
  for (const RawBlock& raw : lane.blocks) {
    RawBytes& to = bytes.emplace_back();
    to = {.epoch = raw.key.epoch, .sequence = raw.key.sequence, .index = raw.key.index};
    RETURN_IF_ERROR(ReadBlockData(db_, options_, session_key_, raw.key, to.data));
    seal_->taken.push_back(raw.key);
    events += raw.events;
    seal_->run.bytes_taken += raw.bytes;
  }
  ASSIGN_OR_RETURN(LaidOutLane laid_out,
                   LayOutLane(std::move(bytes), writer_lanes, IsMemory(stored), block_events_));
  seal_->run.events += events;
  seal_->run.lanes.push_back({.lane_id = lane.lane_id,
                              .events = events,
                              .blocks_taken = lane.blocks.size(),
                              .blocks_made = laid_out.blocks.size()});
  AddBlocks(lane.lane_id, laid_out.blocks);
  return AddRows(lane.lane_id, laid_out.epochs);
}

void RunBuilder::AddBlocks(uint32_t lane_id, std::vector<SealedBlock>& blocks) {
  uint32_t number = 0;
  for (SealedBlock& block : blocks) {
    IndexedBlock& entry = seal_->made.emplace_back();
    entry.key = {.lane_id = lane_id,
                 .start_ns = block.header.first_ns,
                 .epoch = block.epoch,
                 .sequence = kSealedBit | seal_->number,
                 .index = number};
    entry.block.set_end_ns(block.header.last_ns);
    entry.block.set_events(block.header.event_count);
    entry.block.set_data_size(static_cast<uint32_t>(block.data.size()));
    seal_->run.bytes_made += block.data.size();
    Put(lane_id, SealedPart::kBlock, 0, number++, std::move(block.data));
  }
}

absl::Status RunBuilder::AddRows(uint32_t lane_id, const std::vector<EpochEvents>& epochs) {
  ASSIGN_OR_RETURN(const std::vector<StoredRow> stored,
                   ReadRows(db_, options_, session_key_, lane_id));
  LaneCover cover(db_, options_, session_key_, stored);
  uint16_t row_number = 0;
  for (const EpochEvents& epoch : epochs) {
    if (!epoch.levels.empty()) {
      AddRow({.lane_id = lane_id, .run = seal_->number, .row = row_number++}, LevelsRecord(epoch),
             timeline::BuildLevels(epoch.levels));
    }
    if (epoch.spans.empty()) continue;
    ASSIGN_OR_RETURN(const std::vector<timeline::PlannedRow> rows,
                     timeline::PlanRows(epoch.spans, cover));
    for (const timeline::PlannedRow& row : rows) {
      cover.Add(row);
      AddRow({.lane_id = lane_id, .run = seal_->number, .row = row_number++},
             SpansRecord(epoch.epoch, row), timeline::BuildRow(row.spans, row.kind));
    }
  }
  return absl::OkStatus();
}

void RunBuilder::AddRow(const RowKey& key, v1::SealedRow record, timeline::RowBytes bytes) {
  seal_->run.index_bytes += bytes.root.size();
  record.set_root(std::move(bytes.root));
  seal_->rows.push_back({.key = key, .row = std::move(record)});
  const auto put_all = [&](SealedPart part, std::vector<std::string> bundles) {
    for (uint32_t i = 0; i < bundles.size(); ++i) {
      seal_->run.index_bytes += bundles[i].size();
      Put(key.lane_id, part, key.row, i, std::move(bundles[i]));
    }
  };
  put_all(SealedPart::kPages, Bundle(bytes.pages, kBundlePages));
  put_all(SealedPart::kGroups, Bundle(bytes.groups, kBundleGroups));
}

void RunBuilder::Put(uint32_t lane_id, SealedPart part, uint16_t row, uint32_t number,
                     std::string value) {
  values_[SealedKeyBytes(
      session_key_,
      {.run = seal_->number, .lane_id = lane_id, .part = part, .row = row, .number = number})] =
      std::move(value);
}

absl::Status RunBuilder::WriteFile(const std::string& path) const {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                db_.db().GetOptions(db_.family(Family::kSealed)),
                                db_.family(Family::kSealed));
  RETURN_IF_ERROR(FromRocks(writer.Open(path), "writing a sealed run"));
  for (const auto& [key, value] : values_) {
    RETURN_IF_ERROR(FromRocks(writer.Put(key, value), "writing a sealed run"));
  }
  return FromRocks(writer.Finish(), "writing a sealed run");
}

absl::StatusOr<std::unique_ptr<RocksSeal>> RunBuilder::Ingest() {
  const std::string path = db_.SealFile();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // of a run that failed
  RETURN_IF_ERROR(WriteFile(path));
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  RETURN_IF_ERROR(
      FromRocks(db_.db().IngestExternalFile(db_.family(Family::kSealed), {path}, options),
                "ingesting a sealed run"));
  return std::move(seal_);
}

}  // namespace nanolane::store
