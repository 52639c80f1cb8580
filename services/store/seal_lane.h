// Sealing, apart from where things are kept: which blocks a run takes, and how the events of a lane
// are laid out anew. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/timeline/tiles/level_nodes.h"
#include "libs/timeline/tiles/tile_columns.h"
#include "libs/trace/block_codec.h"
#include "services/store/keys.h"
#include "services/store/session_ledger.h"
#include "services/store/store.h"

namespace nanolane::store {

// A block that is not sealed yet, without its data.
struct RawBlock {
  BlockKey key;
  int64_t end_ns = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
};

struct RawLane {
  uint32_t lane_id = 0;
  std::vector<RawBlock> blocks;  // by start
};

// What the next run takes. Lanes that are being written to keep their newest blocks and are taken
// once they have enough; of a session that has ended everything goes, lane by lane.
std::vector<RawLane> PickForRun(std::vector<RawLane> lanes, bool ended, const SealOptions& options);

// The bytes of a raw block with what gives events of equal start their order: arrival.
struct RawBytes {
  uint64_t epoch = 0;
  uint64_t sequence = 0;
  uint32_t index = 0;
  std::string data;
};

struct SealedBlock {
  uint64_t epoch = 0;
  trace::BlockHeader header;
  std::string data;
};

// Events of one epoch by start, then longest first, labelled by their op; or of a memory lane, its
// levels.
struct EpochEvents {
  uint64_t epoch = 0;
  std::vector<timeline::TileSpan> spans;
  std::vector<timeline::LevelPoint> levels;
};

struct LaidOutLane {
  std::vector<SealedBlock> blocks;  // of up to `block_events`, each of one epoch, by start in it
  std::vector<EpochEvents> epochs;
};

// A writer's id of a lane for each epoch that has one.
std::map<uint64_t, trace::LaneId> WriterLanes(const std::map<uint64_t, EpochState>& epochs,
                                              uint32_t lane_id);

// Decodes, sorts and encodes the events of one lane. Events of equal start keep the order in which
// they arrived. `writer_lanes`: see
// WriterLanes. O(n log n).
absl::StatusOr<LaidOutLane> LayOutLane(std::vector<RawBytes> blocks,
                                       const std::map<uint64_t, trace::LaneId>& writer_lanes,
                                       bool is_memory, size_t block_events);

}  // namespace nanolane::store
