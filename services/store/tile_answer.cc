#include "services/store/tile_answer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/block_codec.h"

namespace nanolane::store {
namespace {

constexpr uint64_t kMostColumns = 1 << 18;

timeline::Window WindowOf(const v1::GetTilesRequest& request) {
  return {.start_ns = request.window().start_ns(), .end_ns = request.window().end_ns()};
}

}  // namespace

absl::Status CheckTilesRequest(const v1::GetTilesRequest& request) {
  if (!request.has_window() || request.window().end_ns() <= request.window().start_ns()) {
    return absl::InvalidArgumentError("the window is empty: its end must be after its start");
  }
  if (request.columns() == 0) return absl::InvalidArgumentError("ask for one column at least");
  return absl::OkStatus();
}

absl::Status CheckTilesSize(const v1::GetTilesRequest& request, size_t session_lanes) {
  const uint64_t lanes =
      request.lane_ids().empty() ? session_lanes : static_cast<uint64_t>(request.lane_ids_size());
  if (lanes * request.columns() <= kMostColumns) return absl::OkStatus();
  return absl::InvalidArgumentError(base::StrCat(lanes, " lanes of ", request.columns(),
                                                 " columns are more than ", kMostColumns,
                                                 " in all; ask for some of them at a time"));
}

std::vector<uint32_t> LanesToAnswer(const v1::GetTilesRequest& request, size_t session_lanes) {
  std::vector<uint32_t> lanes(request.lane_ids().begin(), request.lane_ids().end());
  if (lanes.empty()) {
    lanes.resize(session_lanes);
    std::iota(lanes.begin(), lanes.end(), 1U);
  }
  std::erase_if(lanes, [&](uint32_t lane) { return lane == 0 || lane > session_lanes; });
  return lanes;
}

bool IsMemory(const v1::StoredLane& lane) {
  return lane.lane().kind() == trace::v1::LANE_KIND_MEMORY_DRIVER ||
         lane.lane().kind() == trace::v1::LANE_KIND_MEMORY_FRAMEWORK;
}

void TileAnswer::AddEpoch(uint64_t epoch, const EpochLabels& labels) {
  std::vector<uint32_t> names;
  for (const std::string& name : labels.names) {
    const auto [at, added] = name_ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    names.push_back(at->second);
  }
  std::vector<uint32_t>& label_of = label_of_[epoch];
  for (const OpLabel& op : labels.ops) {
    const uint32_t name = names[op.name];
    const auto [at, added] =
        label_ids_.try_emplace({op.category, name}, static_cast<uint32_t>(labels_.size()));
    if (added) labels_.push_back({.category = op.category, .name = name});
    label_of.push_back(at->second);
  }
  wire_names_.resize(names_.size(), 0);
}

const std::vector<uint32_t>& TileAnswer::LabelOf(uint64_t epoch) const {
  static const std::vector<uint32_t>& none = *new std::vector<uint32_t>();
  const auto found = label_of_.find(epoch);
  return found == label_of_.end() ? none : found->second;
}

uint32_t TileAnswer::WireName(uint32_t name) {
  if (wire_names_[name] == 0) {
    response_.add_names(names_[name]);
    wire_names_[name] = static_cast<uint32_t>(response_.names_size());
  }
  return wire_names_[name];
}

void TileAnswer::Add(const LaneColumns& columns) {
  v1::LaneTiles& lane = *response_.add_lanes();
  lane.set_lane_id(columns.lane_id);
  if (columns.is_memory) {
    AddLevels(columns.levels, *lane.mutable_levels());
  } else {
    AddSpans(columns.spans, *lane.mutable_spans());
  }
}

void TileAnswer::AddSpans(const std::vector<timeline::TileColumn>& columns,
                          trace::v1::TileColumns& to) {
  for (const timeline::TileColumn& column : columns) {
    to.add_covered_ns(static_cast<uint64_t>(column.covered_ns));
    to.add_starts(column.starts);
    to.add_present(column.present);
    to.add_dominant_category(
        column.present ? static_cast<trace::v1::Category>(static_cast<int>(column.dominant) + 1)
                       : trace::v1::CATEGORY_UNSPECIFIED);
    to.add_dominant_name(column.present ? WireName(column.dominant_name) : 0);
    to.add_longest_start_ns(column.present ? column.longest_start_ns : 0);
    to.add_longest_ns(column.present ? static_cast<uint64_t>(column.longest_duration_ns) : 0);
    to.add_longest_name(column.present ? WireName(labels_[column.longest_label].name) : 0);
  }
}

void TileAnswer::AddLevels(const std::vector<timeline::LevelColumn>& columns,
                           trace::v1::LevelColumns& to) {
  for (const timeline::LevelColumn& column : columns) {
    to.add_known(column.known);
    to.add_lowest_bytes(column.known ? column.lowest : 0);
    to.add_highest_bytes(column.known ? column.highest : 0);
    to.add_last_bytes(column.known ? column.last : 0);
    to.add_changes(column.known ? column.changes : 0);
  }
}

void LaneAnswer::Begin(const v1::StoredLane& lane) {
  columns_ = {.lane_id = lane.lane_id(), .is_memory = IsMemory(lane), .spans = {}, .levels = {}};
  const timeline::Window window = WindowOf(request_);
  if (is_memory()) {
    levels_ = std::make_unique<timeline::LaneLevels>(window, request_.columns());
  } else if (spans_ == nullptr) {
    spans_ = std::make_unique<timeline::LaneTiles>(window, request_.columns());
  } else {
    spans_->Reset(window, request_.columns());
  }
}

absl::Status LaneAnswer::AddBlock(uint64_t epoch, std::string_view data) {
  trace::EventColumns events;
  if (is_memory()) {
    const auto columns = trace::ColumnSet::Timeline().With(trace::Column::kLevel);
    RETURN_IF_ERROR(trace::DecodeBlock(data, columns, events));
    std::vector<timeline::LevelPoint> points;
    points.reserve(events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      points.push_back({events.start_ns[i], events.level_bytes[i]});
    }
    levels_->AddPoints(points);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(trace::DecodeBlock(data, trace::ColumnSet::Timeline(), events));
  const std::vector<uint32_t>& label_of = answer_.LabelOf(epoch);
  std::vector<timeline::TileSpan> spans;
  spans.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.op[i] >= label_of.size()) {
      return absl::DataLossError(base::StrCat("a block names op ", events.op[i],
                                              ", which its epoch ", epoch, " does not have"));
    }
    spans.push_back(
        timeline::SpanOf(events.start_ns[i], events.duration_ns[i], label_of[events.op[i]]));
  }
  spans_->AddSpans(spans);
  return absl::OkStatus();
}

absl::Status LaneAnswer::AddRow(const v1::SealedRow& row, timeline::RowSource& source) {
  if (is_memory()) return levels_->AddLevels(row.root(), source);
  return spans_->AddRow(row.root(), source, {.events = row.events(), .covers = row.covers()},
                        answer_.LabelOf(row.epoch()));
}

absl::StatusOr<LaneColumns> LaneAnswer::Finish() {
  if (is_memory()) {
    columns_.levels.resize(request_.columns());
    RETURN_IF_ERROR(levels_->Finish(columns_.levels));
  } else {
    columns_.spans.resize(request_.columns());
    RETURN_IF_ERROR(spans_->Finish(answer_.labels(), columns_.spans));
  }
  return std::move(columns_);
}

}  // namespace nanolane::store
