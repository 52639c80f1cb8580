#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/search_box.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kGap = 18;
constexpr double kLeastText = 120;  // what is cut shorter than this is left out

class StatusLine {
 public:
  // Nothing is said beyond `right`.
  StatusLine(Painter& painter, const Rect& bar, double right)
      : painter_(painter), bar_(bar), right_(right) {}

  void Say(const std::string& text, Rgba color) {
    const double width = Painter::Width(painter_.fonts().small, text);
    if (x_ + std::min(width, kLeastText) > right_) {
      right_ = 0;  // nor anything after it
      return;
    }
    x_ += painter_.Text(painter_.fonts().small, x_, bar_.y, bar_.height, color, text, right_ - x_) +
          kGap;
  }
  // Cannot be overlooked.
  void Alarm(const std::string& text) {
    const Theme& theme = painter_.theme();
    const double width = Painter::Width(painter_.fonts().strong, text) + 16;
    if (x_ + width > right_) return Say(text, theme.warning);
    painter_.Fill({x_, bar_.y + 4, width, bar_.height - 8}, theme.warning, 4);
    painter_.Text(painter_.fonts().strong, x_ + 8, bar_.y, bar_.height, theme.background, text);
    x_ += width + kGap;
  }
  void Dot(Rgba color) {
    painter_.Dot(x_ + 4, bar_.y + bar_.height / 2, 3.5, color);
    x_ += 14;
  }

 private:
  Painter& painter_;
  const Rect& bar_;
  double right_;
  double x_ = 14;
};

std::string EventsText(const TimelineModel& model) {
  if (model.is_part()) {
    return absl::StrCat(base::GroupedCount(model.sessions().front().events),
                        " events, columns from the server");
  }
  const std::string received = base::GroupedCount(model.received_events());
  if (model.phase() == TimelineModel::Phase::kLive) {
    return absl::StrCat("recording · ", received, " events");
  }
  const bool ended = model.followed() && model.phase() == TimelineModel::Phase::kComplete;
  return absl::StrCat(ended ? "ended · " : "", received, " of ",
                      base::GroupedCount(model.expected_events()), " events");
}

void SayEvents(StatusLine& line, const Theme& theme, const Viewer& viewer, const Loaded& loaded) {
  const TimelineModel& model = loaded.model;
  const bool failed = model.phase() == TimelineModel::Phase::kFailed;
  const bool interrupted = model.recording() && !loaded.failure.ok();
  const Rgba color = failed ? theme.error : interrupted ? theme.warning : theme.accent;
  line.Dot(color);
  line.Say(EventsText(model), color);
  if (failed) line.Say(std::string(model.status().message()), theme.error);
  const uint64_t lost = model.lost_events();
  const std::string lost_text = absl::StrCat(base::GroupedCount(lost), " lost");
  if (viewer.losing()) {
    line.Alarm(lost_text);
  } else {
    line.Say(lost_text, lost > 0 ? theme.warning : theme.muted);
  }
  const uint64_t left_out = model.left_out_events();
  if (left_out > 0)
    line.Say(absl::StrCat(base::GroupedCount(left_out), " left out"), theme.warning);
  if (interrupted) {
    line.Say(absl::StrCat("trying again: ", std::string(loaded.failure.message())), theme.warning);
  }
}

void SaySearchAndFilter(StatusLine& line, const Theme& theme, const Viewer& viewer,
                        const TimelineModel& model) {
  if (viewer.filtered().active()) {
    line.Say(absl::StrCat("filtered: ", base::GroupedCount(viewer.filtered().shown_events()),
                          " of ", base::GroupedCount(model.received_events()), " events shown"),
             theme.text);
  }
  if (viewer.search().active()) {
    line.Say(SearchSummary(viewer), viewer.search().error().empty() ? theme.text : theme.error);
  }
}

void SayView(StatusLine& line, const Theme& theme, const Viewer& viewer) {
  const ViewFigures& figures = viewer.figures();
  const int64_t window = ClampToInt64(SpanOf(viewer.viewport().shown()));
  line.Say(absl::StrCat("window ", base::FormatDuration(window)), theme.muted);
  if (figures.ops.empty()) return;
  line.Say(absl::StrCat("GPU busy ", ShareText(figures.busy_share, 1)), theme.muted);
  if (!figures.largest_gap.has_value()) return;
  line.Say(absl::StrCat("largest gap ", base::FormatDuration(figures.largest_gap->length())),
           theme.muted);
}

}  // namespace

void PaintProgress(Painter& painter, const Viewer& viewer, const Loaded& loaded) {
  const TimelineModel& model = loaded.model;
  const bool loading = model.phase() == TimelineModel::Phase::kLoading;
  if (!loading || model.expected_events() == 0) return;
  const Rect& strip = viewer.screen().overview;
  const double share = std::min(1.0, static_cast<double>(model.received_events()) /
                                         static_cast<double>(model.expected_events()));
  painter.Fill({strip.x, strip.bottom() - 2, std::floor(strip.width * share), 2},
               painter.theme().accent);
}

void PaintStatusBar(Painter& painter, const Viewer& viewer, const Loaded& loaded, double frame_ms) {
  const Theme& theme = painter.theme();
  const Rect& bar = viewer.screen().status;
  painter.HorizontalLine(bar.x, bar.right(), bar.y, theme.line);
  double right = bar.right() - 14;
  right -=
      painter.TextRight(painter.fonts().small, right, bar.y, bar.height, theme.muted, "? keys");
  right -= kGap;
  right -= painter.TextRight(painter.fonts().small, right, bar.y, bar.height, theme.faint,
                             absl::StrFormat("%.1f ms/frame", frame_ms));
  StatusLine line(painter, bar, right - kGap);
  if (loaded.model.sessions().empty()) {
    line.Say(loaded.failure.ok()                ? "connecting"
             : absl::IsNotFound(loaded.failure) ? "connected, no session"
                                                : "not connected",
             theme.muted);
    return;
  }
  SayEvents(line, theme, viewer, loaded);
  if (!viewer.hint().empty()) return line.Say(viewer.hint(), theme.text);
  SaySearchAndFilter(line, theme, viewer, loaded.model);
  if (viewer.scene() != Scene::kWaiting) SayView(line, theme, viewer);
}

}  // namespace nanolane::desktop
