// Everything the viewer has loaded: sessions, dictionaries, lanes with their events and indexes.
//
// Built from the loader's messages, one Apply() each, on the UI thread; a frame applies as many as
// its time allows. Each change raises the version of the lane that it touches, so that what is
// drawn from a lane is computed again only when the lane or the window has changed.
//
// A session that is followed grows: blocks come in any order of time, lanes and writer epochs late.
// Where its stream starts anew a second model is built beside the one in sight, of a generation of
// its own, so that no version of the one equals one of the other. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "clients/desktop/model/event_store.h"
#include "clients/desktop/model/lane_rows.h"
#include "clients/desktop/model/name_table.h"
#include "clients/desktop/model/session_facts.h"
#include "clients/desktop/model/tile_frames.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/timeline/columns.h"
#include "libs/trace/dictionary.h"

namespace nanolane::desktop {

// One lane. `rows` answers for its pixels, `events` for single events; both count events in the
// order of arrival.
struct LaneModel {
  LaneFacts facts;
  EventStore events;
  LaneRows rows;
  uint64_t version = 0;
  uint32_t categories = 0;  // bit i: there are events of category i
  std::array<uint64_t, trace::kCategoryCount> category_events{};

  size_t MemoryBytes() const { return events.MemoryBytes() + rows.MemoryBytes(); }
};

// Losses whose totals were seen to grow: what was added, and the time recorded meanwhile.
struct SeenLoss {
  uint32_t session = 0;
  trace::Loss loss;
  timeline::Window when;
};

class TimelineModel {
 public:
  enum class Phase : uint8_t {
    kConnecting,
    kLoading,
    kLive,  // all that a running session has is there, and more comes
    kComplete,
    kFailed,
  };

  explicit TimelineModel(uint64_t generation = 0);

  // O(events of the message); O(log events) more for each that comes out of time order. A message
  // that does not fit what came before (an unknown lane, an op without its dictionary) ends the
  // load as failed; what was loaded stays.
  void Apply(LoaderMessage message);

  Phase phase() const { return phase_; }
  uint64_t generation() const { return generation_; }
  // Whether the session was running when it was opened: it is followed until it ends.
  bool followed() const { return followed_; }
  // It is followed still.
  bool recording() const {
    return followed_ && (phase_ == Phase::kLoading || phase_ == Phase::kLive);
  }
  const absl::Status& status() const { return status_; }  // why it failed

  const std::vector<SessionFacts>& sessions() const { return sessions_; }
  const std::vector<std::unique_ptr<LaneModel>>& lanes() const { return lanes_; }
  const NameTable& names() const { return names_; }
  const trace::Dictionary& dictionary(uint32_t index) const { return epochs_[index]->dictionary; }
  size_t dictionary_count() const { return epochs_.size(); }

  // Of all events of a name; a negative duration counts as none.
  struct NameTotal {
    uint64_t events = 0;
    Wide duration_ns = 0;
  };
  // By name; those of names that no event has yet may be missing.
  const std::vector<NameTotal>& name_totals() const { return name_totals_; }

  uint64_t expected_events() const { return expected_; }
  uint64_t received_events() const { return received_; }
  uint64_t lost_events() const;
  uint64_t left_out_events() const;
  // Of a session that is followed, since everything that it had was there. In order of time.
  const std::vector<SeenLoss>& seen_losses() const { return seen_losses_; }
  // Raised by every change.
  uint64_t version() const { return version_; }
  // Raised when dictionary entries come: symbols may be late.
  uint64_t dictionary_version() const { return dictionary_version_; }
  // Raised when lanes come, or rows within them: the layout is computed again.
  uint64_t shape_version() const { return shape_version_; }

  // Whether all events that overlap `window` are here. False for most of a session that is too
  // large to be loaded: its pixels come from the server (tile_frames.h).
  bool Has(const timeline::Window& window) const {
    return !is_part_ || (phase_ == Phase::kComplete && window.start_ns >= part_.start_ns &&
                         window.end_ns <= part_.end_ns);
  }
  bool is_part() const { return is_part_; }

  // From the least start to the greatest end of all sessions; empty when nothing is known.
  timeline::Window extent() const { return extent_; }
  // Where the times that people see count from.
  int64_t origin_ns() const { return sessions_.empty() ? 0 : sessions_.front().start_ns; }

 private:
  // What an op's id means to the timeline.
  struct OpFacts {
    NameId name = 0;
    trace::Category category = trace::Category::kOtherKernel;
  };
  struct Epoch {
    trace::Dictionary dictionary;
    std::vector<OpFacts> ops;  // by op id
  };

  absl::Status Take(StreamOpened opened);
  absl::Status Take(LanesGrew grew);
  absl::Status Take(const DictionaryEntries& entries);
  absl::Status Take(BlockArrived block);
  absl::Status Take(StepEnded step);
  absl::Status Take(const Interrupted& interrupted);
  absl::Status Take(const StreamEnded& ended);
  void SetLane(LaneFacts facts);
  void SetExtent();
  void NoteLosses(const SessionFacts& before, const SessionFacts& now);
  uint32_t EpochOf(uint32_t session, uint64_t epoch);
  void Tally(const EventStore::Block& block, LaneModel& lane);
  absl::StatusOr<EventStore::Block> Named(const Epoch& epoch, BlockArrived& block) const;

  const uint64_t generation_;
  Phase phase_ = Phase::kConnecting;
  bool followed_ = false;
  absl::Status status_;
  std::vector<SessionFacts> sessions_;
  std::vector<std::unique_ptr<LaneModel>> lanes_;
  absl::flat_hash_map<std::pair<uint32_t, trace::LaneId>, size_t> lane_of_id_;
  std::vector<std::unique_ptr<Epoch>> epochs_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> epoch_of_id_;
  NameTable names_;
  std::vector<NameTotal> name_totals_;
  timeline::Window extent_;
  bool is_part_ = false;
  timeline::Window part_;
  std::vector<SeenLoss> seen_losses_;
  uint64_t expected_ = 0;
  uint64_t received_ = 0;
  uint64_t version_ = 0;
  uint64_t shape_version_ = 0;
  uint64_t dictionary_version_ = 0;
};

// What is being tried to show something else than what is in sight.
struct Attempt {
  int tries = 0;             // that failed in a row, before anything was loaded
  int64_t retry_in_ns = 0;   // until the next one; 0: it is under way
  std::string opening;       // id of the session that is being opened; empty: none
  absl::Status open_failed;  // why the last such session could not be opened
};

// What a frame is drawn from: the model, and why the last attempt to load one failed, or why the
// one that is followed gets nothing now (OK: all is well).
struct Loaded {
  const TimelineModel& model;
  const absl::Status& failure;
  Attempt attempt = {};
  // Of a session of which the model is a part: what the server says of windows that the model does
  // not have.
  const TileFrames* tiles = nullptr;
};

}  // namespace nanolane::desktop
