#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/panels.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kPad = 16;
constexpr double kTitleTop = 8;
constexpr double kTitle = 20;
constexpr double kLine = 19;
constexpr double kFooter = 8;

// A column of the panel: its box without the title line.
struct Column {
  Rect box;
  double x() const { return box.x + kPad; }
  double width() const { return box.width - 2 * kPad; }
  double line(size_t i) const {
    return box.y + kTitleTop + kTitle + 4 + kLine * static_cast<double>(i);
  }
  size_t lines() const {
    return static_cast<size_t>((box.height - kTitleTop - kTitle - 4 - kFooter) / kLine);
  }
};

Column ColumnAt(Painter& painter, const Rect& panel, double from, double to) {
  const double x0 = std::round(panel.x + panel.width * from);
  const double x1 = std::round(panel.x + panel.width * to);
  if (from > 0) painter.VerticalLine(x0, panel.y + 1, panel.bottom(), painter.theme().line);
  return {{x0, panel.y, x1 - x0, panel.height}};
}

// A title and, beside it, what is less important.
void PaintTitle(Painter& painter, const Column& column, std::string_view title,
                std::string_view rest) {
  const Theme& theme = painter.theme();
  const double y = column.box.y + kTitleTop;
  const double used = painter.Text(painter.fonts().strong, column.x(), y, kTitle, theme.text, title,
                                   column.width()) +
                      10;
  if (used >= column.width()) return;
  painter.Text(painter.fonts().body, column.x() + used, y, kTitle, theme.muted, rest,
               column.width() - used);
}

// The short name and, under it, what the full one adds or what did not fit. Returns the lines used.
size_t PaintName(Painter& painter, const Column& column, const EventFacts& facts) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const double y = column.box.y + kTitleTop;
  painter.Fill({column.x(), std::floor(y + kTitle / 2 - 4), 9, 9}, theme.OfCategory(facts.category),
               2);
  painter.Text(fonts.strong, column.x() + 18, y, kTitle, theme.text, facts.name,
               column.width() - 18);
  const bool fits = Painter::Width(fonts.strong, facts.name) <= column.width() - 18;
  if (fits && facts.full_name == facts.name) return 0;
  const size_t most = column.lines() > 7 ? 2 : 1;
  const std::vector<std::string_view> lines =
      Painter::Wrap(fonts.small, facts.full_name, column.width());
  for (size_t i = 0; i < std::min(most, lines.size()); ++i) {
    // The last line that there is room for carries on, to end in an ellipsis.
    const std::string_view text =
        i + 1 == most
            ? std::string_view(facts.full_name).substr(lines[i].data() - facts.full_name.data())
            : lines[i];
    painter.Text(fonts.small, column.x(), column.line(0) - 2 + 15 * static_cast<double>(i), 16,
                 theme.muted, text, column.width());
  }
  return std::min(most, lines.size());
}

// Keys and values, in two columns where one is not enough. `skip` lines stay free.
void PaintFacts(Painter& painter, const Column& column, const std::vector<Fact>& facts,
                size_t skip = 0) {
  constexpr double kAfterKey = 12;
  constexpr double kBetweenSides = 16;
  const Theme& theme = painter.theme();
  const Face& face = painter.fonts().number;
  const size_t room = column.lines() - skip;
  const size_t across = facts.size() > room ? 2 : 1;
  const size_t lines = (facts.size() + across - 1) / across;
  double x = column.x();
  const double right = column.x() + column.width();
  for (size_t side = 0; side < across; ++side) {
    const size_t end = std::min(facts.size(), (side + 1) * lines);
    double keys = 0;
    double values = 0;
    for (size_t i = side * lines; i < end; ++i) {
      keys = std::max(keys, std::ceil(Painter::Width(face, facts[i].key)));
      values = std::max(values, std::ceil(Painter::Width(face, facts[i].value)));
    }
    // Half of the width, or more where the values need it and the other side is left some.
    const bool is_last = side + 1 == across;
    const double needed = keys + kAfterKey + values + kBetweenSides;
    const double stride =
        is_last ? right - x
                : std::clamp(needed, std::floor(column.width() / 2), column.width() * 0.6);
    const double value_x = x + keys + kAfterKey;
    for (size_t i = side * lines; i < end; ++i) {
      const size_t row = i % lines;
      if (row >= room) continue;
      const double y = column.line(row + skip);
      painter.Text(face, x, y, kLine, theme.muted, facts[i].key, keys + 1);
      painter.Text(face, value_x, y, kLine, theme.text, facts[i].value,
                   x + stride - value_x - (is_last ? 0 : 8));
    }
    x += stride;
  }
}

void PaintStack(Painter& painter, const Column& column, const EventFacts& facts) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  if (facts.stack.empty()) {
    PaintTitle(painter, column, "Launch stack", "");
    painter.Text(fonts.body, column.x(), column.line(0), kLine, theme.faint, "not recorded",
                 column.width());
    return;
  }
  const std::string languages = facts.languages.empty() ? "" : absl::StrCat(" · ", facts.languages);
  PaintTitle(
      painter, column, "Launch stack",
      absl::StrCat(facts.stack.size(), facts.stack.size() == 1 ? " frame" : " frames", languages));
  // The outermost frames say little; the innermost ones are shown, the rest is counted.
  const size_t lines = column.lines();
  const size_t hidden = facts.stack.size() > lines ? facts.stack.size() - lines + 1 : 0;
  size_t row = 0;
  if (hidden > 0) {
    painter.Text(fonts.body, column.x() + 16, column.line(row), kLine, theme.faint,
                 absl::StrCat("… ", hidden, " outer frames"), column.width() - 16);
    ++row;
  }
  for (size_t i = hidden; i < facts.stack.size(); ++i, ++row) {
    const StackLine& frame = facts.stack[i];
    const double y = column.line(row);
    painter.Fill({column.x(), std::floor(y + kLine / 2 - 3), 7, 7},
                 theme.OfLanguage(frame.language), 2);
    const double room = column.width() - 16;
    const double used =
        painter.Text(fonts.body, column.x() + 16, y, kLine, theme.text, frame.function, room) + 8;
    if (room - used < 40) continue;
    painter.Text(fonts.tick, column.x() + 16 + used, y, kLine, theme.faint, frame.place,
                 room - used);
  }
}

// Durations over the time of the window: one dot a call.
void PaintDots(Painter& painter, const Rect& plot, const OpFigures& op,
               const timeline::Window& window, Rgba color, const EventRef* selected,
               const TimelineModel& model) {
  const int64_t low = op.min_ns;
  const double range = static_cast<double>(std::max<int64_t>(op.max_ns - low, 1));
  const bool flat = op.max_ns == op.min_ns;
  const auto place = [&](int64_t start, int64_t duration, double radius, Rgba ink) {
    const double x = std::clamp(PixelOf(window, plot.width, start), 0.0, plot.width);
    const double share = flat ? 0.5 : static_cast<double>(duration - low) / range;
    painter.Dot(plot.x + x, plot.bottom() - 3 - share * (plot.height - 6), radius, ink);
  };
  for (const DurationPoint& point : op.points)
    place(point.start_ns, point.duration_ns, 1.75, Faded(color, 0.85));
  if (selected == nullptr) return;
  const EventStore& events = model.lanes()[selected->lane]->events;
  place(events.start_ns(selected->event), events.duration_ns(selected->event), 3.5,
        painter.theme().text);
}

void PaintOp(Painter& painter, const Column& column, const Viewer& viewer,
             const TimelineModel& model, const EventFacts& facts) {
  const Theme& theme = painter.theme();
  const std::optional<OpFigures>& op = viewer.figures().op;
  if (!op.has_value() || op->count == 0) {
    PaintTitle(painter, column, "This op in view", "counting …");
    return;
  }
  std::string rest =
      absl::StrCat(base::GroupedCount(op->count), op->count == 1 ? " call · " : " calls · ",
                   base::FormatDuration(op->total_ns));
  if (op->lane_busy_ns > 0) {
    const std::string share =
        ShareText(static_cast<double>(op->lane_clipped_ns), static_cast<double>(op->lane_busy_ns));
    absl::StrAppend(&rest, " · ", share, " of ",
                    LaneInWords(model.lanes()[viewer.selection()->lane]->facts.lane));
  }
  PaintTitle(painter, column, "This op in view", rest);
  const Rect plot{column.x() + 4, column.line(0) + 2, column.width() - 8, column.box.height - 64};
  PaintDots(painter, plot, *op, viewer.figures().window, theme.OfCategory(facts.category),
            &*viewer.selection(), model);
  const double y = column.box.bottom() - 26;
  painter.HorizontalLine(plot.x, plot.right(), y - 4, Faded(theme.line, 0.7));
  const std::string figures =
      absl::StrCat("p50 ", base::FormatDuration(op->p50_ns), "   p95 ",
                   base::FormatDuration(op->p95_ns), "   max ", base::FormatDuration(op->max_ns));
  const double taken =
      painter.TextRight(painter.fonts().tick, plot.right(), y, kLine, theme.muted, figures);
  painter.Text(painter.fonts().tick, plot.x, y, kLine, theme.faint, "duration over the window",
               plot.width - taken - 16);
}

void PaintTopOps(Painter& painter, const Column& column, const Viewer& viewer,
                 const TimelineModel& model) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const ViewFigures& figures = viewer.figures();
  PaintTitle(painter, column, "Most time in view",
             figures.ops.empty()
                 ? "no device work in the window"
                 : absl::StrCat(base::GroupedCount(figures.ops.size()), " ops · ",
                                base::FormatDuration(figures.ops_clipped_ns), " in all"));
  const double bar = std::min(180.0, column.width() * 0.22);
  const double right = column.x() + column.width();
  const double bar_x = right - bar;
  const double total = static_cast<double>(std::max<int64_t>(figures.ops_clipped_ns, 1));
  const double most =
      figures.ops.empty()
          ? 1
          : static_cast<double>(std::max<int64_t>(figures.ops.front().clipped_ns, 1));
  for (size_t i = 0; i < std::min(column.lines(), figures.ops.size()); ++i) {
    const OpTotal& op = figures.ops[i];
    const double y = column.line(i);
    const auto time = static_cast<double>(op.clipped_ns);
    painter.Fill({column.x(), std::floor(y + kLine / 2 - 4), 9, 9}, theme.OfCategory(op.category),
                 2);
    painter.Text(fonts.body, column.x() + 18, y, kLine, theme.text, model.names().Short(op.name),
                 bar_x - 236 - column.x() - 18);
    painter.TextRight(fonts.number, bar_x - 158, y, kLine, theme.muted,
                      absl::StrCat(base::GroupedCount(op.count), " ×"));
    painter.TextRight(fonts.number, bar_x - 70, y, kLine, theme.text,
                      base::FormatDuration(op.clipped_ns));
    painter.TextRight(fonts.number, bar_x - 12, y, kLine, theme.muted, ShareText(time, total));
    painter.Fill({bar_x, std::floor(y + kLine / 2 - 3), bar, 6}, theme.raised, 3);
    painter.Fill({bar_x, std::floor(y + kLine / 2 - 3), std::max(3.0, bar * time / most), 6},
                 theme.OfCategory(op.category), 3);
  }
}

void PaintSession(Painter& painter, const Column& column, const TimelineModel& model) {
  const SessionFacts& session = model.sessions().front();
  PaintTitle(painter, column, "Session", session.id.substr(0, 12));
  std::vector<Fact> facts;
  if (!session.command_line.empty())
    facts.push_back({"command", absl::StrJoin(session.command_line, " ")});
  for (const GpuFacts& gpu : session.gpus) {
    std::string text = gpu.name.empty() ? gpu.uuid : gpu.name;
    if (gpu.memory_bytes > 0)
      absl::StrAppend(&text, " · ", BytesText(static_cast<int64_t>(gpu.memory_bytes)));
    facts.push_back({absl::StrCat("GPU ", gpu.index), text});
  }
  facts.push_back({"source", session.source.empty() ? "not known" : session.source});
  facts.push_back({"events", base::GroupedCount(session.events)});
  for (const trace::Loss& loss : session.losses) {
    facts.push_back({"lost", absl::StrCat(base::GroupedCount(loss.count), " · ", loss.reason)});
  }
  for (const trace::Loss& loss : session.left_out) {
    facts.push_back({"left out", absl::StrCat(base::GroupedCount(loss.count), " · ", loss.reason)});
  }
  PaintFacts(painter, column, facts);
}

}  // namespace

void PaintDetails(Painter& painter, const Viewer& viewer, const TimelineModel& model) {
  const Rect& panel = viewer.screen().details;
  if (panel.height <= 0) return;
  painter.HorizontalLine(panel.x, panel.right(), panel.y, painter.theme().line);
  painter.Clip(panel);
  if (viewer.selected_facts().has_value()) {
    const EventFacts& facts = *viewer.selected_facts();
    const Column what = ColumnAt(painter, panel, 0, 0.32);
    std::vector<Fact> all = facts.when;
    all.insert(all.end(), facts.shape.begin(), facts.shape.end());
    PaintFacts(painter, what, all, PaintName(painter, what, facts));
    PaintStack(painter, ColumnAt(painter, panel, 0.32, 0.61), facts);
    PaintOp(painter, ColumnAt(painter, panel, 0.61, 1), viewer, model, facts);
  } else {
    PaintTopOps(painter, ColumnAt(painter, panel, 0, 0.61), viewer, model);
    PaintSession(painter, ColumnAt(painter, panel, 0.61, 1), model);
  }
  painter.Unclip();
}

}  // namespace nanolane::desktop
