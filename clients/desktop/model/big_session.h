// A session that is too large to be loaded: its pixels come from the query service, exact for the
// window in sight, and where the window is small enough its events are loaded beside it, so that
// everything that looks at single events works there.
//
// Events are loaded for a window somewhat wider than the one in sight, once that has stood still
// for kRestNs. A window with more than LoaderOptions::most_part_events is not loaded. UI thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "clients/desktop/model/tile_frames.h"
#include "clients/desktop/model/tile_loader.h"
#include "clients/desktop/model/timeline_loader.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

class BigSession {
 public:
  using OpenChannelFunction = std::function<std::shared_ptr<grpc::Channel>()>;

  static constexpr int64_t kRestNs = 120'000'000;
  static constexpr double kMargin = 0.5;  // of the window, at each side, is loaded besides

  // `opened` is what is known of the session and its lanes; `options` those of the loader that told
  // it.
  BigSession(const OpenChannelFunction& open_channel, const LoaderOptions& options,
             const StreamOpened& opened);

  // Once a frame, after it was drawn.
  void Show(const TimelineModel& model, const LanesInSight& sight, int64_t now_ns);
  // Takes what has come. True: something is different to draw.
  bool Pump();
  // The events of another window, complete: the model to show from here on. `generation` is what
  // StartPart() was given.
  std::unique_ptr<TimelineModel> TakePart();
  // Called for a generation when a part begins to be loaded.
  void set_next_generation(std::function<uint64_t()> next) { next_generation_ = std::move(next); }

  const TileFrames& tiles() const { return tiles_; }
  // Why the last question had no answer; OK when it had one.
  const absl::Status& failure() const { return failure_; }
  // Whether columns or events are under way.
  bool waiting() const { return asked_.has_value() || part_loader_ != nullptr; }
  // Blocks until the next columns are there, for a picture without a person.
  void WaitForTiles();
  // Blocks until the part that is being loaded is there, or is found to be too large.
  void WaitForPart();

 private:
  void AskForTiles(const TimelineModel& model, const LanesInSight& sight);
  void StartPart(const timeline::Window& window);
  void ApplyPart(LoaderMessage message);
  void TakeTiles(absl::StatusOr<std::shared_ptr<const TileFrame>> answer);

  const OpenChannelFunction open_channel_;
  LoaderOptions options_;
  StreamOpened opened_;
  std::function<uint64_t()> next_generation_ = [] { return 0; };
  TileFrames tiles_;
  TileLoader tile_loader_;
  std::optional<TileQuestion> asked_;
  absl::Status failure_;
  std::unique_ptr<TimelineLoader> part_loader_;
  std::unique_ptr<TimelineModel> part_;  // being loaded, or complete and not taken yet
  timeline::Window part_window_{0, 0};
  timeline::Window part_core_{0, 0};  // without its margins
  // Windows that have been found to have too many events: nothing that holds one is tried again.
  std::vector<timeline::Window> too_large_;
  timeline::Window still_{0, 0};
  int64_t still_since_ns_ = 0;
};

}  // namespace nanolane::desktop
