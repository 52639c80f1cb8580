// Frames drawn without a display, looked at pixel by pixel.

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/platform/screenshot.h"
#include "clients/desktop/testing/fake_query_service.h"
#include "clients/desktop/testing/live_script.h"
#include "clients/desktop/view/theme.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {
namespace {

std::unique_ptr<EglHeadless> Context() {
  auto context = EglHeadless::Create();
  if (!context.ok()) {
    std::printf("SKIPPED: %s\n", std::string(context.status().message()).c_str());
    return nullptr;
  }
  return *std::move(context);
}

TimelineModel Model(const SessionBuilder& builder) {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
  return model;
}

Image Draw(const TimelineModel& model, const CommandLine& line,
           const absl::Status& failure = absl::OkStatus()) {
  auto image = DrawFrame({model, failure}, line);
  REQUIRE(image.ok());
  return *std::move(image);
}

// Pixels that are not of colour `color`.
size_t Different(const Image& image, Rgba color) {
  size_t count = 0;
  for (const uint32_t pixel : image.pixels) count += pixel != color ? 1 : 0;
  return count;
}

std::string TempPath(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("nanolane_desktop_test_" + name)).string();
}

}  // namespace

TEST_CASE("the leaf indicator on screen marks exactly the columns that hold an event") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(SmallSession());
  for (const uint32_t scale : {1U, 2U}) {
    for (const ThemeName theme : {ThemeName::kDark, ThemeName::kLight}) {
      CommandLine line;
      line.theme = theme;
      line.scale = scale;
      line.range = base::TimeRange{-500'000, 21'000'000};
      const Image image = Draw(model, line);
      REQUIRE(image.width == 1'600 * scale);

      const ScreenLayout screen = LayOutScreen(1'600, 900);
      RowLayout layout;
      layout.Update(model);
      const auto row = std::find_if(layout.rows().begin(), layout.rows().end(),
                                    [](const Row& r) { return r.label == "Stream 7"; });
      REQUIRE(row != layout.rows().end());
      // The markers are three pixels high, from three below the row's top.
      const auto y = static_cast<uint32_t>((screen.lanes.y + row->y + 4) * scale);
      const auto left = static_cast<uint32_t>(screen.lanes.x * scale);
      std::vector<timeline::PixelColumn> columns(static_cast<size_t>(screen.lanes.width) * scale);
      model.lanes()[row->lane]->rows.Columns(
          0, {model.origin_ns() - 500'000, model.origin_ns() + 21'000'000}, columns);
      size_t wrong = 0;
      for (uint32_t i = 0; i < columns.size(); ++i) {
        const bool marked = image.At(left + i, y) == ThemeOf(theme).accent;
        wrong += marked != columns[i].present ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a full column has its category's colour, an empty one the background's") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(SmallSession());
  CommandLine line;
  line.range = base::TimeRange{600'000, 1'300'000};
  const Image image = Draw(model, line);
  const ScreenLayout screen = LayOutScreen(1'600, 900);
  RowLayout layout;
  layout.Update(model);
  const Row& row = layout.rows()[3];
  REQUIRE(row.label == "Stream 7");
  const auto y = static_cast<uint32_t>(screen.lanes.y + row.y + 34);
  const auto at = [&](double share) {
    return image.At(static_cast<uint32_t>(screen.lanes.x + share * screen.lanes.width), y);
  };
  const Theme& theme = ThemeOf(ThemeName::kDark);
  CHECK(at(0.2) == theme.OfCategory(trace::Category::kGemm));
  CHECK(at(0.39) == theme.background);
}

TEST_CASE("every scene says something") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel nothing;
  const Theme& theme = ThemeOf(ThemeName::kDark);
  const Image connecting = Draw(nothing, {});
  const Image no_server = Draw(nothing, {}, absl::UnavailableError("no server"));
  const Image no_session = Draw(nothing, {}, absl::NotFoundError("no sessions"));
  const Image failed = Draw(nothing, {}, absl::InternalError("broken"));
  const Image empty = Draw(Model(SessionBuilder()), {});
  for (const Image* image : {&connecting, &no_server, &no_session, &failed, &empty}) {
    CHECK(Different(*image, theme.background) > 1'000);
  }
  CHECK(connecting.pixels != no_server.pixels);
  CHECK(no_server.pixels != no_session.pixels);
  CHECK(no_session.pixels != failed.pixels);
}

TEST_CASE("frames are drawn at the smallest and at odd sizes") {
  const auto context = Context();
  if (context == nullptr) return;
  const TimelineModel model = Model(SmallSession());
  for (const auto& [width, height] :
       {std::pair<uint32_t, uint32_t>{320, 320}, {641, 367}, {2'561, 1'439}}) {
    CommandLine line;
    line.width = width;
    line.height = height;
    const Image image = Draw(model, line);
    CHECK(image.width == width);
    CHECK(image.height == height);
  }
}

TEST_CASE("a screenshot of a served session is a PNG of the asked size") {
  if (Context() == nullptr) return;
  FakeQueryService service;
  service.Serve(SmallSession());
  CommandLine line;
  line.server = service.address();
  line.screenshot = TempPath("shot.png");
  line.scale = 2;
  REQUIRE(TakeScreenshot(line).ok());
  std::ifstream file(line.screenshot, std::ios::binary);
  std::string head(24, '\0');
  REQUIRE(file.read(head.data(), 24));
  CHECK(head.substr(1, 3) == "PNG");
  const auto big_endian = [&head](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(head[at + i]);
    return value;
  };
  CHECK(big_endian(16) == 3'200);
  CHECK(big_endian(20) == 1'800);
  std::filesystem::remove(line.screenshot);
}

TEST_CASE("a recording without events says so") {
  const auto context = Context();
  if (context == nullptr) return;
  TimelineModel waiting;
  SessionFacts facts{.id = std::string(32, 'a')};
  waiting.Apply(StreamOpened{.sessions = {facts}, .live = true});
  waiting.Apply(StepEnded{.session = std::nullopt, .caught_up = true});
  const Theme& theme = ThemeOf(ThemeName::kDark);
  const Image empty = Draw(waiting, {});
  CHECK(Different(empty, theme.background) > 1'000);
  CHECK(empty.pixels != Draw(Model(SessionBuilder()), {}).pixels);
}

TEST_CASE("a screenshot of a session that is being recorded takes what is there") {
  if (Context() == nullptr) return;
  FakeQueryService service;
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 20});
  trace::v1::SessionSummary listed = script.summary();
  listed.mutable_session()->set_ended(false);
  service.Record(listed, script.steps(), script.state_steps());
  CommandLine line;
  line.server = service.address();
  line.screenshot = TempPath("live.png");
  REQUIRE(TakeScreenshot(line).ok());
  CHECK(std::filesystem::file_size(line.screenshot) > 10'000);
  std::filesystem::remove(line.screenshot);
}

TEST_CASE("a screenshot that cannot be taken says why") {
  if (Context() == nullptr) return;
  FakeQueryService service;
  CommandLine line;
  line.server = service.address();
  line.screenshot = TempPath("none.png");
  CHECK(absl::IsNotFound(TakeScreenshot(line)));

  service.Serve(SmallSession());
  line.range = base::TimeRange{3'000'000'000, 4'000'000'000};
  const absl::Status nothing = TakeScreenshot(line);
  CHECK(absl::IsNotFound(nothing));
  CHECK(std::string(nothing.message()).find("no events from 3 s to 4 s") == 0);

  line.range.reset();
  line.screenshot = TempPath("no_such_folder") + "/a.png";
  const absl::Status unwritable = TakeScreenshot(line);
  CHECK(std::string(unwritable.message()).find(line.screenshot) != std::string::npos);

  service.Stop();
  line.screenshot = TempPath("none.png");
  const absl::Status no_server = TakeScreenshot(line);
  CHECK(absl::IsUnavailable(no_server));
  CHECK(std::string(no_server.message()).find(service.address()) != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(line.screenshot));
}

}  // namespace nanolane::desktop
