// Pickers, strip, states and notices in frames drawn without a display: found with the mouse, typed
// into, looked at pixel by pixel.

#include <catch2/catch.hpp>
#include <cstdio>

#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/render/frame_image.h"
#include "clients/desktop/testing/session_builder.h"
#include "clients/desktop/view/main_view.h"

namespace nanolane::desktop {
namespace {

constexpr uint32_t kWidth = 1'600;
constexpr uint32_t kHeight = 900;
constexpr int64_t kNow = int64_t{1'700'000'000} * 1'000'000'000;

SessionFacts Other(const std::string& id, const std::string& project, int64_t unix_ns) {
  SessionFacts session{.id = id, .project = project, .host = "gpu-07", .executable = "python3"};
  session.pid = 4'121;
  session.end_ns = 40'000'000'000;
  session.events = 1'000;
  session.unix_offset_ns = unix_ns;
  session.unix_offset_known = true;
  session.ended = true;
  return session;
}

// A viewer with everything around it, in a picture instead of a window.
class Stage {
 public:
  // Nothing: no session has come.
  explicit Stage(const std::optional<SessionBuilder>& builder = Recorded()) {
    if (builder.has_value()) {
      for (LoaderMessage& message : LoaderMessages(*builder)) model.Apply(std::move(message));
    }
    view_.SetScope(desk);
  }
  static SessionBuilder Recorded() {
    SessionBuilder builder = SmallSession();
    builder.session().set_project("search");
    builder.session().set_host("gpu-07");
    builder.session().set_executable("python3");
    builder.session().set_pid(4'121);
    builder.session().mutable_clock()->set_unix_offset_known(true);
    builder.session().mutable_clock()->set_unix_offset_ns(kNow);
    return builder;
  }

  void Know(std::vector<SessionFacts> sessions) {
    catalog_ = std::make_shared<const CatalogSnapshot>(
        CatalogSnapshot{.version = ++version_, .sessions = std::move(sessions), .failure = {}});
  }
  void Frame() {
    desk.Update(model, {.catalog = catalog_,
                        .density = density,
                        .overview = viewer.session_overview(),
                        .sight = viewer.viewport().shown(),
                        .unix_ns = kNow + 60'000'000'000});
    desk.Step(input);
    viewer.SetStrip(desk.strip());
    input.mouse_taken = context_.wants_mouse();
    viewer.Step({model, failure, attempt}, input, kWidth, kHeight, 0.016, now_ns_ += 16'000'000);
    target_->Bind();
    view_.Draw(viewer, {model, failure, attempt}, input, 0.016);
    input.pressed.fill(0);
    input.typed.clear();
  }
  Image Picture() {
    Frame();
    return target_->Read();
  }
  void Click(double x, double y) {
    input.mouse_x = x;
    input.mouse_y = y;
    Frame();
    Frame();
    input.left_down = true;
    Frame();
    input.left_down = false;
    Frame();
  }
  void Press(Key key) {
    input.pressed[static_cast<size_t>(key)] = 1;
    Frame();
  }
  void Type(const std::string& text) {
    for (const char letter : text) {
      input.typed.push_back(static_cast<uint32_t>(letter));
      Frame();
    }
    Frame();
  }
  // Clicks along the top bar until the picker opens. False: it has no chip.
  bool OpenPicker(ScopePart part) {
    for (double x = 90; x < kWidth - 300; x += 12) {
      desk.picker().Close();
      Click(x, 22);
      if (desk.picker().part() == part) return true;
    }
    return false;
  }
  MainView& view() { return view_; }

  TimelineModel model;
  absl::Status failure;
  Attempt attempt;
  ScopeDesk desk;
  Viewer viewer{{}};
  Input input;
  std::shared_ptr<const DensityAnswer> density;

 private:
  std::unique_ptr<EglHeadless> gl_ = *EglHeadless::Create();
  absl::StatusOr<FrameTarget> target_ = FrameTarget::Create(kWidth, kHeight);
  UiContext context_{1, {}};
  MainView view_{context_, ThemeName::kDark, "127.0.0.1:7070"};
  std::shared_ptr<const CatalogSnapshot> catalog_;
  uint64_t version_ = 0;
  int64_t now_ns_ = 0;
};

bool NoOpenGl() {
  const auto context = EglHeadless::Create();
  if (context.ok()) return false;
  std::printf("SKIPPED: %s\n", std::string(context.status().message()).c_str());
  return true;
}

size_t CountIn(const Image& image, const Rect& rect, Rgba color) {
  size_t count = 0;
  for (auto y = static_cast<uint32_t>(rect.y); y < static_cast<uint32_t>(rect.bottom()); ++y) {
    for (auto x = static_cast<uint32_t>(rect.x); x < static_cast<uint32_t>(rect.right()); ++x) {
      count += image.At(x, y) == color ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("every chip opens its picker; typing narrows it and Enter chooses") {
  if (NoOpenGl()) return;
  Stage stage;
  stage.Know({Other("b", "search", kNow - 100'000'000'000), Other("c", "train", kNow)});
  for (size_t part = 0; part < kScopePartCount; ++part) {
    CHECK(stage.OpenPicker(static_cast<ScopePart>(part)));
    stage.Press(Key::kEscape);
    CHECK_FALSE(stage.desk.picker().open());
  }
  REQUIRE(stage.OpenPicker(ScopePart::kProject));
  stage.Frame();  // the field has the keyboard a frame later
  stage.Type("tra");
  CHECK(stage.desk.picker().text() == "tra");
  CHECK(stage.desk.picker().matching().size() == 1);
  stage.Press(Key::kEnter);
  CHECK(stage.desk.scope().project == std::string("train"));
  const auto request = stage.desk.TakeRequest();
  REQUIRE(request.has_value());
  CHECK(request->session == "c");
}

TEST_CASE("a click takes a row, one beside the list closes it and moves nothing") {
  if (NoOpenGl()) return;
  Stage stage;
  stage.Know({Other("b", "search", kNow - 100'000'000'000)});
  stage.Frame();
  REQUIRE(stage.OpenPicker(ScopePart::kProcess));
  REQUIRE(stage.desk.picker().matching().size() == 2);
  const Window before = stage.viewer.viewport().target();
  stage.Click(1'300, 600);
  CHECK_FALSE(stage.desk.picker().open());
  CHECK(stage.viewer.viewport().target().start_ns == before.start_ns);
  REQUIRE(stage.OpenPicker(ScopePart::kProcess));
  // The second row, under its field.
  stage.Click(stage.input.mouse_x + 60, 34 + 6 + 8 + 28 + 6 + 42 + 20);
  const auto request = stage.desk.TakeRequest();
  REQUIRE(request.has_value());
  CHECK(request->session == "b");
}

TEST_CASE("the strip marks exactly the columns in which the server has data, and what was lost") {
  if (NoOpenGl()) return;
  Stage stage;
  stage.Know({Other("b", "search", kNow - 100'000'000'000)});
  stage.Frame();
  stage.Frame();
  DensityAnswer answer;
  // Bins of half a second that are empty, sparse or busy by turns.
  answer.layers = {{.level = 29, .bins = {}}};
  for (int64_t at = -100; at < -60; at += 7) {
    const int64_t index = (kNow + at * 1'000'000'000) >> 29;
    answer.layers[0].bins.push_back({.index = index,
                                     .events = 3,
                                     .busy_ns = at % 2 == 0 ? uint64_t{1} << 28 : 1,
                                     .losses = at == -86 ? 9u : 0u});
  }
  stage.density = std::make_shared<const DensityAnswer>(answer);
  const Image image = stage.Picture();
  const ScreenLayout& screen = stage.viewer.screen();
  const Rect plot = OverviewPlot(screen);
  const auto columns = StripColumns(answer.layers, stage.desk.ToUnix(stage.viewer.overview()),
                                    static_cast<size_t>(plot.width));
  size_t wrong = 0;
  size_t present = 0;
  const auto bottom = static_cast<uint32_t>(plot.bottom()) - 1;
  for (uint32_t i = 0; i < columns.size(); ++i) {
    const uint32_t pixel = image.At(static_cast<uint32_t>(plot.x) + i, bottom);
    const bool bar = ((pixel >> 8) & 0xFF) > 120;  // green
    // The window in sight has an outline of the same colour at the right end.
    if (i + 60 > columns.size()) continue;
    wrong += bar != columns[i].present ? 1 : 0;
    present += columns[i].present ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(present > 10);
  const Theme& theme = ThemeOf(ThemeName::kDark);
  CHECK(CountIn(image, {plot.x, screen.overview.y, plot.width, plot.y - screen.overview.y},
                theme.warning) > 0);
  // Over the mark a card says how many.
  const double at = PixelOf(stage.viewer.overview(), plot.width,
                            stage.desk.FromUnix({kNow - 86'000'000'000, 0}).start_ns);
  stage.input.mouse_x = plot.x + at;
  stage.input.mouse_y = plot.y + 4;
  const Image hovered = stage.Picture();
  CHECK(CountIn(hovered, {plot.x, screen.overview.bottom(), plot.width, 90}, theme.raised) > 3'000);
}

TEST_CASE("a click on the strip outside of the session opens the one that lies there") {
  if (NoOpenGl()) return;
  Stage stage;
  stage.Know({Other("b", "search", kNow - 100'000'000'000)});
  stage.Frame();
  stage.Frame();
  const Rect plot = OverviewPlot(stage.viewer.screen());
  stage.Click(plot.x + plot.width * 0.2, plot.y + 10);
  const auto outside = stage.viewer.TakeOutside();
  REQUIRE(outside.has_value());
  REQUIRE(stage.desk.OpenAt(*outside));
  CHECK(stage.desk.TakeRequest()->session == "b");
}

TEST_CASE("losses have a bar over the lanes that unfolds and goes away at a click") {
  if (NoOpenGl()) return;
  SessionBuilder builder = Stage::Recorded();
  auto& loss = *builder.session().add_losses();
  loss.set_kind(trace::v1::EVENT_KIND_KERNEL);
  loss.set_reason("the ring was full");
  loss.set_count(12'000);
  Stage stage(builder);
  const Theme& theme = ThemeOf(ThemeName::kDark);
  const Image folded = stage.Picture();
  const Rect& lanes = stage.viewer.screen().lanes;
  const Rect bar{lanes.x + 8, lanes.bottom() - 38, lanes.width - 16, 30};
  CHECK(CountIn(folded, {bar.x, bar.y, 3, bar.height}, theme.warning) > 20);
  const Window before = stage.viewer.viewport().target();
  stage.Click(bar.right() - 60, bar.y + 15);  // details
  const Image unfolded = stage.Picture();
  CHECK(CountIn(unfolded, {bar.x, bar.y - 24, 3, 24}, theme.warning) > 10);
  stage.Click(bar.right() - 16, bar.y + 15 - 24);  // the cross of the bar, which has grown
  const Image gone = stage.Picture();
  CHECK(CountIn(gone, {bar.x, bar.y, 3, bar.height}, theme.warning) == 0);
  CHECK(stage.viewer.viewport().target().start_ns == before.start_ns);
}

TEST_CASE("without a server the picture says when it is tried again") {
  if (NoOpenGl()) return;
  Stage stage(std::nullopt);
  stage.failure = absl::UnavailableError("no server");
  stage.attempt = {.tries = 3, .retry_in_ns = 4'000'000'000, .opening = "", .open_failed = {}};
  const Image waiting = stage.Picture();
  CHECK(stage.viewer.scene() == Scene::kNoServer);
  stage.attempt.retry_in_ns = 1'000'000'000;
  const Image soon = stage.Picture();
  CHECK(waiting.pixels != soon.pixels);
}

TEST_CASE("from a window with nothing in it a button goes to the nearest data") {
  if (NoOpenGl()) return;
  SessionBuilder builder;
  const trace::LaneId lane =
      builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const trace::OpId op = builder.AddKernel("sgemm");
  for (const int64_t start_ns : {0, 100'000'000}) {
    builder.Add(lane, {.op = op, .start_ns = start_ns, .duration_ns = 1'000'000});
  }
  Stage stage(builder);
  const auto frames = [&] {
    for (int i = 0; i < 40; ++i) stage.Frame();
  };
  frames();
  // A range between the two.
  Input& input = stage.input;
  const Rect& lanes = stage.viewer.screen().lanes;
  input.ctrl = true;
  input.mouse_x = lanes.x + lanes.width * 0.4;
  input.mouse_y = lanes.y + 300;
  stage.Frame();
  input.left_down = true;
  stage.Frame();
  input.mouse_x = lanes.x + lanes.width * 0.5;
  stage.Frame();
  input.left_down = false;
  stage.Frame();
  input.ctrl = false;
  frames();
  REQUIRE(stage.viewer.scene() == Scene::kNoEvents);
  REQUIRE(stage.viewer.nearest().has_value());
  const double center = std::floor((lanes.x + lanes.right()) / 2);
  stage.Click(center, std::floor(lanes.y + lanes.height / 2) - 44 + 36 + 32 + 14);
  frames();
  CHECK(stage.viewer.scene() == Scene::kTimeline);
}

}  // namespace nanolane::desktop
