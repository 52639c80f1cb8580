// A real window in a real X server, moved by a real mouse and real keys.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/platform/window_loop.h"
#include "clients/desktop/render/frame_image.h"
#include "clients/desktop/testing/fake_query_service.h"
#include "clients/desktop/testing/x_server.h"
#include "clients/desktop/view/theme.h"

namespace nanolane::desktop {
namespace {

// What the hand does next, and what the viewer must show for it.
struct Act {
  std::string name;
  std::function<void(const XServer&, const Viewer&)> hand;
  std::function<bool(const Viewer&)> seen;
  bool mid_drag = false;  // a button stays down: nothing settles
};

constexpr const char* kKeycodeOfW = "25";  // of the X server: the key above S
constexpr uint64_t kEventsOfSmallSession = 200;
constexpr int kMostFrames = 3'000;  // an act that has no effect by then has failed

std::string Number(double value) { return absl::StrCat(static_cast<int>(value)); }

// The screen point of a time in "Stream 7".
void PointAt(const XServer& server, const Viewer& viewer, int64_t time_ns) {
  const Rect& lanes = viewer.screen().lanes;
  for (const Row& row : viewer.layout().rows()) {
    if (row.label != "Stream 7") continue;
    const double x = lanes.x + PixelOf(viewer.viewport().shown(), lanes.width, time_ns);
    server.Do({"mousemove", "--sync", Number(x), Number(lanes.y + row.y + 24)});
  }
}

// The label of a lane.
void PointAtLabel(const XServer& server, const Viewer& viewer, const std::string& label) {
  for (const LaneBlock& block : viewer.layout().blocks()) {
    if (block.label != label) continue;
    const LabelBoxes boxes =
        BoxesOf(viewer.screen(), viewer.layout(), block, viewer.scroll(), block.pinned, false);
    server.Do({"mousemove", "--sync", Number(boxes.title.x + 8), Number(boxes.title.y + 8)});
  }
}

void PointAtRuler(const XServer& server, const Viewer& viewer, double share) {
  const Rect& lanes = viewer.screen().lanes;
  server.Do({"mousemove", "--sync", Number(lanes.x + share * lanes.width),
             Number(viewer.screen().ruler.y + 10)});
}

// The legend's second entry, after "all".
void PointAtKernels(const XServer& server, const Viewer& viewer, double x) {
  const Rect& lanes = viewer.screen().lanes;
  const double y = std::min(lanes.y + viewer.layout().rows_height() - viewer.scroll(),
                            lanes.bottom() - kLegendHeight);
  server.Do({"mousemove", "--sync", Number(lanes.x + x), Number(y + kLegendHeight / 2)});
}

bool Settled(const Viewer& viewer) {
  return viewer.scene() == Scene::kTimeline && !viewer.moving();
}

class Play {
 public:
  Play(const XServer& server, std::vector<Act> acts) : server_(server), acts_(std::move(acts)) {}

  bool Frame(const Viewer& viewer) {
    ++frames_;
    GlfwWindow::Wake();  // no sleep between frames
    if (at_ == acts_.size()) return false;
    if (!begun_) {
      if (!was_mid_drag_ && !Settled(viewer)) return frames_ < kMostFrames;
      acts_[at_].hand(server_, viewer);
      begun_ = true;
      frames_ = 0;
      return true;
    }
    if (acts_[at_].seen(viewer) && (acts_[at_].mid_drag || Settled(viewer))) {
      begun_ = false;
      was_mid_drag_ = acts_[at_].mid_drag;
      ++at_;
      frames_ = 0;
    }
    return frames_ < kMostFrames;
  }
  std::string stuck_at() const { return at_ == acts_.size() ? "" : acts_[at_].name; }

 private:
  const XServer& server_;
  std::vector<Act> acts_;
  size_t at_ = 0;
  int frames_ = 0;
  bool begun_ = false;
  bool was_mid_drag_ = false;
};

Wide ShownSpan(const Viewer& viewer) { return SpanOf(viewer.viewport().shown()); }

}  // namespace

TEST_CASE("mouse and keys move a real window") {
  const auto server = XServer::Start(1'700, 1'000);
  if (!server.ok()) {
    std::printf("SKIPPED: %s\n", std::string(server.status().message()).c_str());
    return;
  }
  setenv("DISPLAY", (*server)->display().c_str(), 1);
  FakeQueryService service;
  service.Serve(SmallSession());
  CommandLine line;
  line.server = service.address();

  Wide before = 0;
  Window window_before;
  const auto remember = [&](const Viewer& viewer) {
    before = ShownSpan(viewer);
    window_before = viewer.viewport().shown();
  };
  const auto key = [&](const std::string& name) {
    return [&, name](const XServer& x, const Viewer& viewer) {
      remember(viewer);
      x.Do({"key", name});
    };
  };
  std::vector<Act> acts = {
      {"focus",
       [](const XServer& x, const Viewer&) {
         const std::string id(absl::StripAsciiWhitespace(x.Do({"search", "--name", "Nanolane"})));
         x.Do({"windowfocus", "--sync", id});
       },
       [](const Viewer&) { return true; }},
      {"hover names a span",
       [](const XServer& x, const Viewer& v) { PointAt(x, v, 1'000'700'000); },
       [](const Viewer& v) { return v.hover().has_value(); }},
      {"the wheel zooms in",
       [&](const XServer& x, const Viewer& v) {
         remember(v);
         x.Do({"click", "4"});
       },
       [&](const Viewer& v) { return ShownSpan(v) < before; }},
      {"a right click goes back",
       [](const XServer& x, const Viewer&) {
         x.Do({"click", "3"});
       },
       [&](const Viewer& v) { return ShownSpan(v) == before; }},
      {"a click zooms onto a span",
       [](const XServer& x, const Viewer& v) {
         PointAt(x, v, 1'000'700'000);
         x.Do({"click", "1"});
       },
       [](const Viewer& v) { return v.selection().has_value() && ShownSpan(v) == 500'000; }},
      {"ctrl+left goes back", key("ctrl+Left"),
       [&](const Viewer& v) { return ShownSpan(v) > 500'000; }},
      {"ctrl+right goes forward", key("ctrl+Right"),
       [&](const Viewer& v) { return ShownSpan(v) == 500'000; }},
      {"S zooms out", key("s"), [&](const Viewer& v) { return ShownSpan(v) > before; }},
      {"D pans to later times", key("d"),
       [&](const Viewer& v) { return v.viewport().shown().start_ns > window_before.start_ns; }},
      {"escape clears the selection", key("Escape"),
       [](const Viewer& v) { return !v.selection().has_value(); }},
      {"F fits everything", key("f"), [](const Viewer& v) { return ShownSpan(v) > 70'000'000; }},
      {"ctrl+press begins a range",
       [&](const XServer& x, const Viewer& v) {
         PointAt(x, v, 1'010'000'000);
         x.Do({"keydown", "ctrl", "mousedown", "1"});
       },
       [](const Viewer& v) { return v.navigator().dragging(); }, true},
      {"the range follows the mouse",
       [&](const XServer& x, const Viewer& v) { PointAt(x, v, 1'020'000'000); },
       [](const Viewer& v) { return v.navigator().band().has_value(); }, true},
      {"ctrl+drag zooms to a range",
       [](const XServer& x, const Viewer&) {
         x.Do({"mouseup", "1", "keyup", "ctrl"});
       },
       [](const Viewer& v) {
         return ShownSpan(v) > 9'800'000 && ShownSpan(v) < 10'200'000 &&
                std::abs(v.viewport().shown().start_ns - 1'010'000'000) < 100'000;
       }},
      {"a right press begins a drag",
       [&](const XServer& x, const Viewer& v) {
         remember(v);
         PointAt(x, v, 1'015'000'000);
         x.Do({"mousedown", "3"});
       },
       [](const Viewer& v) { return v.navigator().dragging(); }, true},
      {"a right drag pans",
       [](const XServer& x, const Viewer&) {
         x.Do({"mousemove_relative", "--sync", "--", "-120", "0"});
       },
       [&](const Viewer& v) {
         return ShownSpan(v) == before && v.viewport().shown().start_ns > window_before.start_ns;
       },
       true},
      {"releasing it does not go back",
       [](const XServer& x, const Viewer&) {
         x.Do({"mouseup", "3"});
       },
       [&](const Viewer& v) {
         return !v.navigator().dragging() && v.viewport().shown().start_ns > window_before.start_ns;
       }},
      {"W by its place on a French keyboard",
       [&](const XServer& x, const Viewer& v) {
         remember(v);
         REQUIRE(x.SetKeyboard("fr"));
         x.Do({"key", kKeycodeOfW});  // which types a Z there
       },
       [&](const Viewer& v) { return ShownSpan(v) < before; }},
      {"a US keyboard again",
       [&](const XServer& x, const Viewer&) { REQUIRE(x.SetKeyboard("us")); },
       [](const Viewer&) { return true; }},
      {"F shows everything", key("f"), [](const Viewer& v) { return ShownSpan(v) > 70'000'000; }},
      {"a right press begins a click",
       [&](const XServer& x, const Viewer& v) {
         remember(v);
         PointAt(x, v, 1'015'000'000);
         x.Do({"mousedown", "3"});
       },
       [](const Viewer& v) { return v.navigator().dragging(); }, true},
      {"four pixels are still a click, which goes back",
       [](const XServer& x, const Viewer&) {
         x.Do({"mousemove_relative", "--sync", "--", "4", "0", "mouseup", "3"});
       },
       [&](const Viewer& v) { return !v.navigator().dragging() && ShownSpan(v) < before; }},
      {"a press on the ruler begins to measure",
       [&](const XServer& x, const Viewer& v) {
         PointAtRuler(x, v, 0.25);
         x.Do({"mousedown", "1"});
       },
       [frames = 0](const Viewer&) mutable { return ++frames > 3; }, true},
      {"the measured range follows the mouse",
       [](const XServer& x, const Viewer& v) { PointAtRuler(x, v, 0.75); },
       [](const Viewer& v) { return v.measured().has_value(); }, true},
      {"a drag on the ruler measures",
       [&](const XServer& x, const Viewer& v) {
         remember(v);
         x.Do({"mouseup", "1"});
       },
       [&](const Viewer& v) {
         return v.measured().has_value() && SpanOf(*v.measured()) > before / 3 &&
                SpanOf(*v.measured()) < before * 2 / 3 && ShownSpan(v) == before;
       }},
      {"escape ends the measuring", key("Escape"),
       [](const Viewer& v) { return !v.measured().has_value(); }},
      {"F shows everything again", key("f"),
       [](const Viewer& v) { return ShownSpan(v) > 70'000'000; }},
      {"a click selects the first kernel",
       [](const XServer& x, const Viewer& v) {
         PointAt(x, v, 1'000'700'000);
         x.Do({"click", "1"});
       },
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 0};
       }},
      {"a period goes to the next event", key("period"),
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 1};
       }},
      {"a comma goes back", key("comma"),
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 0};
       }},
      {"with shift to the next of the name", key("shift+period"),
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 1};
       }},
      {"over another name", key("shift+period"),
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 2};
       }},
      {"and over the layer norm", key("shift+period"),
       [](const Viewer& v) {
         return v.selection() == EventRef{0, 4};
       }},
      {"a bracket tells of the launch", key("bracketleft"),
       [](const Viewer& v) { return v.hint().starts_with("launched 8.104 µs before"); }},
      {"M measures the event", key("m"), [](const Viewer& v) { return v.measured().has_value(); }},
      {"escape clears it", key("Escape"),
       [](const Viewer& v) { return !v.measured().has_value() && v.selection().has_value(); }},
      {"a right click on a label opens its menu",
       [](const XServer& x, const Viewer& v) {
         PointAtLabel(x, v, "Stream 14");
         x.Do({"click", "3"});
       },
       [](const Viewer& v) { return v.board().hand().menu().has_value(); }},
      {"a choice in the menu pins the lane",
       [](const XServer& x, const Viewer& v) {
         const Rect& item = v.board().hand().menu()->items[0].box;
         x.Do({"mousemove", "--sync", Number(item.x + 20), Number(item.y + 10), "click", "1"});
       },
       [](const Viewer& v) { return v.layout().stuck_height() == kStreamHeight; }},
      {"a click on a label collapses nested ranges",
       [](const XServer& x, const Viewer& v) {
         PointAtLabel(x, v, "NVTX");
         x.Do({"click", "1"});
       },
       [](const Viewer& v) {
         return std::none_of(v.layout().blocks().begin(), v.layout().blocks().end(),
                             [](const LaneBlock& block) { return block.expanded; });
       }},
      {"a question mark lists the keys", key("question"),
       [](const Viewer& v) { return v.keys_shown(); }},
      {"escape closes the list", key("Escape"), [](const Viewer& v) { return !v.keys_shown(); }},
      {"a slash goes to the search field", key("slash"),
       [frames = 0](const Viewer&) mutable { return ++frames > 3; }},
      {"letters search",
       [](const XServer& x, const Viewer&) {
         x.Do({"type", "sgemm"});
       },
       [](const Viewer& v) {
         return v.search().pattern() == "sgemm" && v.search().matching_names() == 1;
       }},
      {"enter steps to a hit", key("Return"),
       [](const Viewer& v) {
         return v.selection().has_value() && v.hits().totals().events == 120;
       }},
      {"the mouse goes to an entry of the legend",
       [](const XServer& x, const Viewer& v) { PointAtKernels(x, v, 54); },
       [frames = 0](const Viewer&) mutable { return ++frames > 3; }},
      {"a click hides what it stands for",
       [](const XServer& x, const Viewer&) {
         x.Do({"click", "1"});
       },
       [](const Viewer& v) {
         return !v.filter().ShowsCategory(trace::Category::kGemm) &&
                v.filter().ShowsCategory(trace::Category::kH2D) &&
                v.filtered().shown_events() == kEventsOfSmallSession - 160;
       }},
      {"the mouse moves on, for two quick clicks in one place are another thing",
       [](const XServer& x, const Viewer& v) { PointAtKernels(x, v, 74); },
       [frames = 0](const Viewer&) mutable { return ++frames > 3; }},
      {"another click shows it again",
       [](const XServer& x, const Viewer&) {
         x.Do({"click", "1"});
       },
       [](const Viewer& v) { return !v.filter().active(); }},
      {"and back", [](const XServer& x, const Viewer& v) { PointAtKernels(x, v, 54); },
       [frames = 0](const Viewer&) mutable { return ++frames > 3; }},
      {"alt+click shows it alone",
       [](const XServer& x, const Viewer&) {
         x.Do({"keydown", "alt", "click", "1", "keyup", "alt"});
       },
       [](const Viewer& v) {
         return v.filter().ShowsCategory(trace::Category::kGemm) &&
                !v.filter().ShowsCategory(trace::Category::kH2D) &&
                v.selection().has_value();  // a click on the legend is none on the lanes
       }},
  };
  Play play(**server, std::move(acts));
  size_t colours = 0;
  const absl::Status status =
      RunWindow(line, {.after_frame = [&](const GlfwWindow& window, const Viewer& viewer) {
                  const bool go_on = play.Frame(viewer);
                  if (!go_on) {
                    const Image image = ReadPixels(window.pixel_width(), window.pixel_height());
                    for (const uint32_t pixel : image.pixels) {
                      colours += pixel == ThemeOf(ThemeName::kDark).accent ? 1 : 0;
                    }
                  }
                  return go_on;
                }});
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(play.stuck_at() == "");
  CHECK(colours > 100);  // the leaf indicators of a drawn timeline
}

TEST_CASE("a window opens without a server and shows the session once there is one") {
  const auto server = XServer::Start(1'000, 700);
  if (!server.ok()) {
    std::printf("SKIPPED: %s\n", std::string(server.status().message()).c_str());
    return;
  }
  setenv("DISPLAY", (*server)->display().c_str(), 1);
  FakeQueryService service;
  CommandLine line;
  line.server = service.address();
  line.width = 900;
  line.height = 600;
  bool waited = false;
  int frames = 0;
  const absl::Status status =
      RunWindow(line, {.after_frame = [&](const GlfwWindow&, const Viewer& viewer) {
                  if (viewer.scene() == Scene::kNoSession && !waited) {
                    waited = true;
                    service.Serve(SmallSession());
                  }
                  return viewer.scene() != Scene::kTimeline && ++frames < kMostFrames;
                }});
  CHECK(status.ok());
  CHECK(waited);
  CHECK(frames < kMostFrames);
}

TEST_CASE("without a display the message points to the screenshot") {
  setenv("DISPLAY", ":no-such-display", 1);
  unsetenv("WAYLAND_DISPLAY");
  const absl::Status status = RunWindow({}, {});
  CHECK(absl::IsUnavailable(status));
  CHECK(std::string(status.message()).find("--screenshot") != std::string::npos);
}

}  // namespace nanolane::desktop
