// Lanes and their labels as pixels: pinned, expanded, hidden, with marks.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/platform/screenshot.h"
#include "clients/desktop/testing/stack_session.h"
#include "clients/desktop/view/theme.h"

namespace nanolane::desktop {
namespace {

std::unique_ptr<EglHeadless> Context() {
  auto context = EglHeadless::Create();
  if (context.ok()) return *std::move(context);
  std::printf("SKIPPED: %s\n", std::string(context.status().message()).c_str());
  return nullptr;
}

TimelineModel Model(const SessionBuilder& builder) {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
  return model;
}

// What the last frame was drawn from.
struct Picture {
  Image image;
  RowLayout layout;
  ScreenLayout screen;
  Window window;
  double scroll = 0;
};

Picture Draw(const TimelineModel& model, const CommandLine& line, const FrameHand& hand) {
  Picture picture;
  const absl::Status well;
  auto image = DrawFrame({model, well}, line, [&](int frame, Viewer& viewer, Input& input) {
    hand(frame, viewer, input);
    picture.layout = viewer.layout();
    picture.screen = viewer.screen();
    picture.window = viewer.viewport().shown();
    picture.scroll = viewer.scroll();
  });
  REQUIRE(image.ok());
  picture.image = *std::move(image);
  return picture;
}

const LaneBlock& BlockOf(const RowLayout& layout, const std::string& label) {
  const auto found =
      std::find_if(layout.blocks().begin(), layout.blocks().end(),
                   [&label](const LaneBlock& block) { return block.label == label; });
  REQUIRE(found != layout.blocks().end());
  return *found;
}

// Pixels of a logical rectangle that are not of `color`.
size_t Others(const Picture& picture, const Rect& rect, uint32_t scale, Rgba color) {
  size_t others = 0;
  for (auto y = static_cast<uint32_t>(rect.y * scale); y < rect.bottom() * scale; ++y) {
    for (auto x = static_cast<uint32_t>(rect.x * scale); x < rect.right() * scale; ++x) {
      others += picture.image.At(x, y) != color ? 1 : 0;
    }
  }
  return others;
}

}  // namespace

TEST_CASE("a pinned lane's leaves are drawn under the ruler, whatever has scrolled under it") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(LargeSession(60, 6'000));
  for (const uint32_t scale : {1U, 2U}) {
    CommandLine line;
    line.scale = scale;
    const Picture picture = Draw(model, line, [](int frame, Viewer& viewer, Input& input) {
      input.mouse_x = 40;
      input.mouse_y = 400;
      input.wheel = frame == 2 ? -12 : 0;
      if (frame != 1) return;
      const std::string key = BlockOf(viewer.layout(), "Stream 20").key;
      viewer.board().arrangement().SetPinned(key, true);
    });
    REQUIRE(picture.scroll == 720);
    const LaneBlock& block = BlockOf(picture.layout, "Stream 20");
    const auto width = static_cast<uint32_t>(picture.screen.lanes.width) * scale;
    std::vector<timeline::PixelColumn> columns(width);
    model.lanes()[block.lane]->rows.Columns(0, picture.window, columns);
    const auto y = static_cast<uint32_t>((picture.screen.lanes.y + 4) * scale);
    size_t wrong = 0;
    for (uint32_t i = 0; i < width; ++i) {
      const auto x = static_cast<uint32_t>(picture.screen.lanes.x) * scale + i;
      const bool marked = picture.image.At(x, y) == ThemeOf(ThemeName::kDark).accent;
      wrong += marked != columns[i].present ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an expanded stream shows a bar where a frame's span is, and nothing beside it") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(StackSession(64, 3));
  for (const ThemeName theme : {ThemeName::kDark, ThemeName::kLight}) {
    CommandLine line;
    line.theme = theme;
    line.expand = true;
    const Picture picture = Draw(model, line, [](int, Viewer&, Input&) {});
    const LaneBlock& block = BlockOf(picture.layout, "Stream 7");
    REQUIRE(block.row_count == 4);
    const Row& row = picture.layout.rows()[block.first_row + 2];
    const auto y = static_cast<uint32_t>(picture.screen.lanes.y + row.y + 2);
    const auto at = [&](int64_t time_ns) {
      const Rect& lanes = picture.screen.lanes;
      const double x = lanes.x + PixelOf(picture.window, lanes.width, time_ns);
      return picture.image.At(static_cast<uint32_t>(x), y);
    };
    // Runs of four events: 0 … 7 us, 8 … 15 us.
    const Theme& colors = ThemeOf(theme);
    CHECK(at(3'500) == colors.GroundOfLanguage(trace::Language::kPython));
    CHECK(at(11'500) == colors.GroundOfLanguage(trace::Language::kPython));
    CHECK(at(7'500) == colors.background);
  }
}

TEST_CASE("in the label column title, pin and loss never touch, at any scale and in both themes") {
  const auto context = Context();
  if (context == nullptr) return;
  SessionBuilder builder = StackSession(40, 12);
  const std::string domain = "a domain with a name that is far longer than the label column";
  builder.Add(
      builder.AddLane({.kind = trace::LaneKind::kNvtxThread, .thread = 4, .domain = domain}),
      {.op = builder.AddOp(trace::EventKind::kNvtx, "range"), .duration_ns = 9'000});
  trace::v1::Loss& loss = *builder.session().add_losses();
  loss.set_kind(trace::v1::EVENT_KIND_NVTX);
  loss.set_count(4);
  loss.set_reason("buffer full");
  const TimelineModel model = Model(builder);
  for (const uint32_t scale : {1U, 2U}) {
    for (const ThemeName theme : {ThemeName::kDark, ThemeName::kLight}) {
      CommandLine line;
      line.theme = theme;
      line.scale = scale;
      std::string key;
      const Picture picture = Draw(model, line, [&key](int frame, Viewer& viewer, Input&) {
        if (frame != 1) return;
        for (const LaneBlock& block : viewer.layout().blocks()) {
          const Row& row = viewer.layout().rows()[block.first_row];
          if (row.kind == RowKind::kNvtx) key = block.key;
        }
        viewer.board().arrangement().SetPinned(key, true);
      });
      const LaneBlock& block = picture.layout.blocks()[0];
      REQUIRE(block.key == key);
      const LabelBoxes boxes = BoxesOf(picture.screen, picture.layout, block, 0, true, true);
      const Rgba ground = ThemeOf(theme).background;
      const double top = boxes.title.y + 3;
      const double height = boxes.title.height - 6;
      const auto clear = [&](double from, double to) {
        return Others(picture, {from, top, to - from, height}, scale, ground) == 0;
      };
      CHECK(clear(0, boxes.title.x));
      CHECK_FALSE(clear(boxes.title.x, boxes.title.right()));
      CHECK(clear(boxes.title.right(), boxes.loss.x - 0.5));
      CHECK_FALSE(clear(boxes.loss.x, boxes.loss.right()));
      CHECK(clear(boxes.loss.right() + 0.5, boxes.pin.x));
      CHECK_FALSE(clear(boxes.pin.x, boxes.pin.right()));
      CHECK(clear(boxes.pin.right(), picture.screen.labels.right() - 1));
    }
  }
}

TEST_CASE("while lanes are hidden, the label column says how to bring them back") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(LargeSession(3, 60));
  const Theme& theme = ThemeOf(ThemeName::kDark);
  const auto draw = [&](bool hide) {
    return Draw(model, {}, [hide](int frame, Viewer& viewer, Input&) {
      if (frame != 1 || !hide) return;
      const std::string key = BlockOf(viewer.layout(), "Stream 9").key;
      viewer.board().arrangement().Hide(key);
    });
  };
  const Picture without = draw(false);
  const Picture with = draw(true);
  const Rect strip = HiddenStrip(with.screen);
  CHECK(Others(without, strip, 1, theme.background) == 0);
  // Words on the strip's own ground, with room at both ends.
  const Rect inside{strip.x, strip.y + 1, strip.width - 1, strip.height - 1};
  const size_t words = Others(with, inside, 1, theme.panel);
  CHECK(words > 100);
  CHECK(words < 1'000);
  CHECK(Others(with, {inside.x, inside.y, kLabelMargin, inside.height}, 1, theme.panel) == 0);
}

}  // namespace nanolane::desktop
