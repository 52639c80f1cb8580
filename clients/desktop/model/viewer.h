// The state of the viewer between frames, and what a frame changes in it: no ImGui, no GL. Views
// draw from it; tests drive it with synthetic input.
//
// One Step() a frame: new data and the size of the window give the layout, the navigator turns
// input into moves, what lies under the cursor and the figures of the view follow.
//
// A session that is being recorded is shown at its newest end, and the view goes on with it until
// somebody moves it away (viewport.h). Where the model is replaced by one of another generation,
// the view and, where its event is still there, the selection stay. UI thread only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/event_filter.h"
#include "clients/desktop/model/event_rate.h"
#include "clients/desktop/model/event_steps.h"
#include "clients/desktop/model/filtered_lanes.h"
#include "clients/desktop/model/lane_board.h"
#include "clients/desktop/model/launch_link.h"
#include "clients/desktop/model/loss_marks.h"
#include "clients/desktop/model/measure.h"
#include "clients/desktop/model/name_search.h"
#include "clients/desktop/model/navigator.h"
#include "clients/desktop/model/nearest_data.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/model/search_hits.h"
#include "clients/desktop/model/status_hint.h"
#include "clients/desktop/model/view_stats.h"
#include "clients/desktop/model/viewport.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {

// What the middle of the window shows.
enum class Scene : uint8_t {
  kConnecting,  // nothing heard yet
  kNoServer,
  kNoSession,
  kFailed,    // before anything was loaded
  kEmpty,     // the session has no events
  kWaiting,   // the session is being recorded and has no events yet
  kNoEvents,  // the timeline, with nothing in the window
  kTimeline,
};

struct Hover {
  EventRef event;
  size_t row = 0;    // of the layout
  size_t crowd = 0;  // events in the pixel
};

// A column of a session that is not loaded.
struct TileHover {
  size_t row = 0;  // of the layout
  TileFrames::Spot spot;
};

// A point of a memory row.
struct LevelHover {
  size_t lane = 0;
  int64_t time_ns = 0;
  MemoryLevel level;
};

struct ViewerOptions {
  std::optional<base::TimeRange> range;  // opening window, counted from the session's start
  double device_scale = 1;               // physical pixels in a logical one
};

class Viewer {
 public:
  static constexpr size_t kStatEventsPerFrame = 100'000;
  // Of a search, in a frame: names and frames to match, and looks at events.
  static constexpr size_t kMatchesPerFrame = 10'000;
  static constexpr size_t kSearchWorkPerFrame = 2'000'000;
  static constexpr size_t kNamesPerFrame = 2'000'000;  // looked at for the next of the same name
  // How long the window must stand still before its figures are worked out.
  static constexpr int64_t kFiguresDelayNs = 120'000'000;
  // How old the figures of a view that follows the end may become.
  static constexpr int64_t kLiveFiguresNs = 1'000'000'000;
  // How long it is said loudly that events were lost.
  static constexpr int64_t kLossAlarmNs = 5'000'000'000;
  static constexpr double kPickSlop = 4;        // pixels around the cursor that still hit a span
  static constexpr double kFrameMargin = 0.02;  // the same for the span of a frame, which has parts
  static constexpr double kClickMargin = 0.5;   // of the span, at each side, when a click zooms

  explicit Viewer(ViewerOptions options) : options_(options) {}

  // `seconds` have passed since the last step; `now_ns` is monotonic.
  void Step(const Loaded& loaded, const Input& input, double width, double height, double seconds,
            int64_t now_ns);
  // Works on the figures of the view until they are complete: for a picture without a person.
  void Settle(const TimelineModel& model);

  Scene scene() const { return scene_; }
  const ScreenLayout& screen() const { return screen_; }
  const Viewport& viewport() const { return viewport_; }
  const RowLayout& layout() const { return layout_; }
  const LaneBoard& board() const { return board_; }
  LaneBoard& board() { return board_; }
  const Navigator& navigator() const { return navigator_; }
  const ViewFigures& figures() const { return stats_.figures(); }
  const std::optional<Hover>& hover() const { return hover_; }
  const std::optional<LevelHover>& level_hover() const { return level_hover_; }
  const std::optional<TileHover>& tile_hover() const { return tile_hover_; }
  const std::optional<FrameHover>& frame_hover() const { return frame_hover_; }
  const std::optional<HoverCard>& loss_hover() const { return loss_hover_; }
  const std::vector<LossMark>& loss_marks() const { return loss_marks_; }
  const std::optional<EventRef>& selection() const { return selection_; }
  const std::optional<EventFacts>& selected_facts() const { return selected_facts_; }
  // What the strip on top shows: what was set, else the session's useful extent.
  const timeline::Window& overview() const { return strip_.has_value() ? *strip_ : overview_; }
  // The session's useful extent.
  const timeline::Window& session_overview() const { return overview_; }
  // The strip shows this, of the session's time; nothing: the session's useful extent.
  void SetStrip(const std::optional<timeline::Window>& strip) { strip_ = strip; }
  // A window that was chosen on the strip and has nothing of this session, once.
  std::optional<timeline::Window> TakeOutside() { return std::exchange(outside_, std::nullopt); }
  // How the next session opens; nothing: by its own opening view.
  void OpenNextAt(const std::optional<timeline::Window>& window) { open_next_at_ = window; }

  // While nothing lies in the window: where something does.
  const std::optional<NearestData>& nearest() const { return nearest_; }
  void GoToNearest();
  // Of a session that is being recorded.
  double events_per_second() const { return rate_.per_second(); }
  double scroll() const { return scroll_; }
  double device_scale() const { return options_.device_scale; }
  bool keys_shown() const { return keys_shown_; }
  // Losses of a session that is being recorded have just grown.
  bool losing() const { return losing_; }
  bool wants_search_focus() const { return wants_search_focus_; }
  // Whether the next frame looks different without new input: keep drawing.
  bool moving() const {
    return viewport_.gliding() || navigator_.dragging() || figures_due_ || hits_due_ ||
           stacks_due_ || filter_due_ || name_steps_.working() || launch_link_.working();
  }

  NameSearch& search() { return search_; }
  const NameSearch& search() const { return search_; }
  const SearchHits& hits() const { return hits_; }
  EventFilter& filter() { return filter_; }
  const EventFilter& filter() const { return filter_; }
  const FilteredLanes& filtered() const { return filtered_; }
  // The conditions that have no place in the legend.
  bool filter_shown() const { return filter_shown_; }
  void ToggleFilter() { filter_shown_ = !filter_shown_; }
  // A range of time that is being measured.
  const std::optional<Window>& measured() const { return measure_.range(); }
  // What the status bar says for a moment; empty: nothing.
  const std::string& hint() const { return hint_.text(); }
  void Select(const TimelineModel& model, const std::optional<EventRef>& event);
  // Selects the longest event of the busiest op in the window, for a picture that shows details.
  void SelectTypical(const TimelineModel& model);
  void ToggleKeys() { keys_shown_ = !keys_shown_; }

 private:
  void Adopt(const TimelineModel& model);
  // Nothing of the session before is left, but the search and the folded groups.
  void BeginSession(const std::string& id);
  void UpdateNearest(const TimelineModel& model);
  void UpdateWindow(const TimelineModel& model);
  void OpenWindow(const TimelineModel& model);
  void ShowOpening(const TimelineModel& model);
  void GrowWindow(const TimelineModel& model);
  void UpdateLosses(const TimelineModel& model, int64_t now_ns);
  void CarryOut(const Loaded& loaded, const Wishes& wishes);
  void WorkOnSearchAndFilter(const TimelineModel& model);
  void StepHits(const TimelineModel& model, bool backwards);
  // Selects the event and brings it into sight.
  void GoTo(const TimelineModel& model, const EventRef& event);
  void Move(const TimelineModel& model, EventMove move);
  void Follow(const TimelineModel& model, const LaunchLink::Answer& answer);
  // Moves whose end takes some looking.
  void WorkOnMoves(const TimelineModel& model);
  void MeasureSelection(const TimelineModel& model);
  void StepMeasure(const TimelineModel& model, const Input& input);
  void Click(const Loaded& loaded, const Point& at);
  void UpdateHover(const Loaded& loaded, const Input& input);
  const Row* RowUnder(double x, double y) const;
  std::optional<Hover> Pick(const TimelineModel& model, double x, double y) const;
  std::optional<TileHover> PickTile(const Loaded& loaded, double x, double y) const;
  std::optional<FrameHover> PickFrame(double x, double y) const;
  // Time of a point of the lanes, and how far beside it a pick still hits.
  int64_t TimeUnder(double x) const;
  int64_t PickSlopNs() const;
  void UpdateFigures(const TimelineModel& model, int64_t now_ns);
  Scene SceneOf(const Loaded& loaded) const;
  ViewStats::Question QuestionOf(const TimelineModel& model) const;
  ViewStats::Question QuestionNow(const TimelineModel& model, int64_t now_ns) const;

  const ViewerOptions options_;
  Scene scene_ = Scene::kConnecting;
  ScreenLayout screen_;
  Viewport viewport_;
  RowLayout layout_;
  LaneBoard board_;
  Navigator navigator_;
  ViewStats stats_;
  NameSearch search_;
  FrameSearch frames_;
  SearchHits hits_;
  EventFilter filter_;
  FilteredLanes filtered_;
  NameSteps name_steps_;
  LaunchLink launch_link_;
  Measure measure_;
  StatusHint hint_;
  timeline::Window overview_{0, 1};
  std::optional<timeline::Window> strip_;
  std::optional<timeline::Window> outside_;
  std::string session_id_;
  bool first_session_ = true;                     // that the command line's range is about
  std::optional<timeline::Window> open_at_;       // this session
  std::optional<timeline::Window> open_next_at_;  // the one after it
  std::optional<NearestData> nearest_;
  timeline::Window nearest_to_{0, 0};
  EventRate rate_;
  std::optional<Hover> hover_;
  std::optional<LevelHover> level_hover_;
  std::optional<TileHover> tile_hover_;
  std::optional<FrameHover> frame_hover_;
  std::optional<HoverCard> loss_hover_;
  std::vector<LossMark> loss_marks_;
  std::optional<EventRef> selection_;
  std::optional<EventFacts> selected_facts_;
  // What the selected event is in any model.
  struct SelectionKey {
    uint32_t session = 0;
    trace::LaneId lane = 0;
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
    std::string name;
  };
  std::optional<SelectionKey> selection_key_;
  uint64_t generation_ = 0;  // of the model that everything here is about
  uint64_t dictionary_seen_ = 0;
  double scroll_ = 0;
  bool keys_shown_ = false;
  bool wants_search_focus_ = false;
  // Since when the window has stood still, and whether its figures are still to come.
  timeline::Window still_{0, 0};
  int64_t still_since_ns_ = 0;
  bool figures_due_ = false;
  bool hits_due_ = false;
  bool stacks_due_ = false;
  bool filter_due_ = false;
  bool filter_shown_ = false;
  ViewStats::Question question_;
  int64_t asked_ns_ = 0;
  std::optional<uint64_t> lost_seen_;
  int64_t lost_grew_ns_ = 0;
  bool losing_ = false;
  bool has_extent_ = false;  // of a session that is being recorded
  // What the opening window was computed for.
  TimelineModel::Phase opened_phase_ = TimelineModel::Phase::kConnecting;
};

}  // namespace nanolane::desktop
