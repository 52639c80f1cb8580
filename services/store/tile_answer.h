// What the stores share of answering GetTiles: what may be asked, what labels are called across
// epochs, and the columns of a lane from the blocks and rows that a store finds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "libs/timeline/tiles/lane_tiles.h"
#include "libs/timeline/tiles/level_row.h"
#include "nanolane/store/v1/disk.pb.h"
#include "services/store/op_labels.h"
#include "services/store/store.h"

namespace nanolane::store {

// INVALID_ARGUMENT for an empty window or no columns.
absl::Status CheckTilesRequest(const v1::GetTilesRequest& request);
// INVALID_ARGUMENT for more than may be asked for at once of a session with so many lanes.
absl::Status CheckTilesSize(const v1::GetTilesRequest& request, size_t session_lanes);

// Ids of the lanes asked for that are there, in the order of the request.
std::vector<uint32_t> LanesToAnswer(const v1::GetTilesRequest& request, size_t session_lanes);

bool IsMemory(const v1::StoredLane& lane);

// The columns of one lane: spans' or levels'.
struct LaneColumns {
  uint32_t lane_id = 0;
  bool is_memory = false;
  std::vector<timeline::TileColumn> spans;
  std::vector<timeline::LevelColumn> levels;
};

// The response, lane by lane. Thread-compatible.
class TileAnswer {
 public:
  // Adds the ops of an epoch, epochs in ascending order, before lanes that have its events.
  void AddEpoch(uint64_t epoch, const EpochLabels& labels);

  // Of an epoch's ops.
  const std::vector<uint32_t>& LabelOf(uint64_t epoch) const;
  const std::vector<timeline::Label>& labels() const { return labels_; }

  // Takes the columns of a lane, labelled as labels() says.
  void Add(const LaneColumns& columns);

  v1::GetTilesResponse Take() { return std::move(response_); }

 private:
  void AddSpans(const std::vector<timeline::TileColumn>& columns, trace::v1::TileColumns& to);
  static void AddLevels(const std::vector<timeline::LevelColumn>& columns,
                        trace::v1::LevelColumns& to);
  uint32_t WireName(uint32_t name);

  std::unordered_map<std::string, uint32_t> name_ids_;
  std::vector<std::string> names_;
  std::map<std::pair<trace::Category, uint32_t>, uint32_t> label_ids_;
  std::vector<timeline::Label> labels_;
  std::map<uint64_t, std::vector<uint32_t>> label_of_;  // [op], by epoch
  std::vector<uint32_t> wire_names_;                    // [name], 0: not used yet
  v1::GetTilesResponse response_;
};

// The columns of one lane. Of a lane of spans, blocks that are not sealed come first, then rows; of
// a memory lane rows come first: of equal times, what is added later holds later.
class LaneAnswer {
 public:
  // Both outlive this.
  LaneAnswer(const v1::GetTilesRequest& request, const TileAnswer& answer)
      : request_(request), answer_(answer) {}

  // Starts a lane; memory of the one before is used again.
  void Begin(const v1::StoredLane& lane);
  bool is_memory() const { return columns_.is_memory; }
  absl::Status AddBlock(uint64_t epoch, std::string_view data);
  absl::Status AddRow(const v1::SealedRow& row, timeline::RowSource& source);
  absl::StatusOr<LaneColumns> Finish();

 private:
  const v1::GetTilesRequest& request_;
  const TileAnswer& answer_;
  LaneColumns columns_;
  std::unique_ptr<timeline::LaneTiles> spans_;    // kept from lane to lane
  std::unique_ptr<timeline::LaneLevels> levels_;  // of a memory lane
};

}  // namespace nanolane::store
