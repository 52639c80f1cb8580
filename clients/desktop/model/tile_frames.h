// Pixel columns that the query service has worked out, of sessions that are too large to be loaded.
//
// A frame is the answer for one window at one width. It is exact for that window; for another one
// its columns are stretched or folded, so that there is always something in sight while the exact
// answer is under way: nothing that an answer has shown vanishes, and no column is blank because it
// is being asked for. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/timeline/columns.h"
#include "libs/timeline/memory_index.h"
#include "libs/trace/model.h"

namespace nanolane::desktop {

// What is told of a column's longest event.
struct LongestEvent {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint32_t name = 0;  // 1 + index into the frame's names; 0: none
};

// The columns of one lane, as many as the frame is wide: spans or levels.
struct TileLane {
  std::vector<timeline::PixelColumn> spans;
  std::vector<uint32_t> dominant_name;  // as LongestEvent::name
  std::vector<LongestEvent> longest;
  std::vector<timeline::LevelColumn> levels;
};

struct TileFrame {
  timeline::Window window;
  uint32_t width = 0;
  std::vector<std::string> names;
  absl::flat_hash_map<trace::LaneId, TileLane> lanes;

  bool IsOf(const timeline::Window& other, uint32_t other_width) const {
    return window.start_ns == other.start_ns && window.end_ns == other.end_ns &&
           width == other_width;
  }
};

// What of the timeline is in sight.
struct LanesInSight {
  timeline::Window window;
  timeline::Window heading_to;  // where a glide of the window ends
  timeline::Window overview;    // of the strip on top
  uint32_t width = 0;           // physical pixels
  std::vector<size_t> lanes;    // of the model
};

// What a frame is asked for: the lanes of one session.
struct TileQuestion {
  timeline::Window window;
  uint32_t width = 0;
  std::vector<trace::LaneId> lanes;
};

class TileFrames {
 public:
  // Of former windows; the widest of all is kept besides.
  static constexpr size_t kMostFrames = 6;

  enum class Answer : uint8_t { kNone, kStretched, kExact };

  void Add(std::shared_ptr<const TileFrame> frame);

  // Fills `out` with the lane's columns for `window`. kNone: nothing is known of the lane, and the
  // columns are empty.
  Answer Spans(trace::LaneId lane, const timeline::Window& window,
               std::span<timeline::PixelColumn> out) const;
  Answer Levels(trace::LaneId lane, const timeline::Window& window,
                std::span<timeline::LevelColumn> out) const;

  // The column of an exact frame at `time_ns`, for a hover card; nothing where no exact frame is
  // there, or the column holds nothing.
  struct Spot {
    timeline::PixelColumn column;
    timeline::Window extent;
    std::string dominant_name;
    std::string longest_name;
    LongestEvent longest;
  };
  std::optional<Spot> At(trace::LaneId lane, const timeline::Window& window, uint32_t width,
                         uint32_t x) const;

  // The lanes of `question` for which there is no exact answer yet; nothing is left to ask when it
  // is empty.
  std::vector<trace::LaneId> Missing(const TileQuestion& question) const;

  // The highest level of the lane that any frame has shown; 0: none.
  int64_t HighestLevel(trace::LaneId lane) const;

  // Raised by Add(): what was drawn from stretched columns is drawn again.
  uint64_t version() const { return version_; }

 private:
  // The frame to show `window` from: the exact one, else the one with the finest columns of those
  // that cover it, else the widest.
  const TileFrame* Best(trace::LaneId lane, const timeline::Window& window, uint32_t width) const;

  std::list<std::shared_ptr<const TileFrame>> frames_;  // newest first
  std::shared_ptr<const TileFrame> widest_;
  absl::flat_hash_map<trace::LaneId, int64_t> highest_;
  uint64_t version_ = 0;
};

}  // namespace nanolane::desktop
