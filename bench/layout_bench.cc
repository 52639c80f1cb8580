// The viewer's frame with many events in sight: what is computed for a frame (layout: rows, pixel
// columns, wide spans, labels' fit, hover, a slice of the figures) and the whole frame on the
// OpenGL that an EGL context without a display gets, at 1600x900. Beside it: taking events in.
//
//   layout_bench [EVENTS]   in 20 streams; 1,000,000 when left out
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "bench/machine.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/render/frame_image.h"
#include "clients/desktop/render/gl.h"
#include "clients/desktop/testing/session_builder.h"
#include "clients/desktop/view/main_view.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kLanes = 20;
constexpr uint32_t kWidth = 1'600;
constexpr uint32_t kHeight = 900;
constexpr int kFrames = 300;
constexpr double kFrameSeconds = 1.0 / 60;

// One way to move from frame to frame.
struct Motion {
  const char* name;
  std::function<void(int frame, Input& input)> move;
};

const std::vector<Motion>& Motions() {
  static const std::vector<Motion> motions = {
      {"still", [](int, Input&) {}},
      {"hovering", [](int frame, Input& input) { input.mouse_x = 200 + frame * 4; }},
      {"panning",
       [](int frame, Input& input) {
         input.shift = true;
         input.wheel = frame / 25 % 2 == 0 ? -0.2 : 0.2;
       }},
      {"zooming", [](int frame, Input& input) { input.wheel = frame / 60 % 2 == 0 ? 0.5 : -0.5; }}};
  return motions;
}

class Bench {
 public:
  explicit Bench(const TimelineModel& model)
      : model_(model), view_(context_, ThemeName::kDark, "") {}

  void Run(const FrameTarget& target) {
    for (int i = 0; i < 30; ++i)
      Frame(Idle(), target, nullptr, nullptr);  // caches, shaders, figures
    std::printf("%-10s %22s %22s\n", "", "layout ms (p50, p95)", "whole frame ms");
    for (const Motion& motion : Motions()) {
      nanolane::bench::Samples layout;
      nanolane::bench::Samples whole;
      for (int frame = 0; frame < kFrames; ++frame) {
        Input input = Idle();
        motion.move(frame, input);
        Frame(input, target, &layout, &whole);
      }
      std::printf("%-10s %12.2f %8.2f %14.2f %8.2f\n", motion.name, layout.Median(),
                  layout.Quantile(0.95), whole.Median(), whole.Quantile(0.95));
    }
  }

 private:
  static Input Idle() {
    Input input;
    input.mouse_x = 800;
    input.mouse_y = 300;
    return input;
  }

  void Frame(const Input& input, const FrameTarget& target, nanolane::bench::Samples* layout,
             nanolane::bench::Samples* whole) {
    now_ns_ += 16'000'000;
    const nanolane::bench::Stopwatch watch;
    viewer_.Step({model_, failure_}, input, kWidth, kHeight, kFrameSeconds, now_ns_);
    lanes_.Prepare(viewer_, {model_, failure_}, ThemeOf(ThemeName::kDark));
    if (layout != nullptr) layout->Add(watch.Seconds() * 1e3);
    // The view prepares lanes of its own: the whole frame is counted without those above.
    const nanolane::bench::Stopwatch drawing;
    target.Bind();
    view_.Draw(viewer_, {model_, failure_}, input, kFrameSeconds);
    if (whole != nullptr) whole->Add(drawing.Seconds() * 1e3);
  }

  const TimelineModel& model_;
  const absl::Status failure_;
  UiContext context_{1, {}};
  MainView view_;
  Viewer viewer_{{}};
  LanesView lanes_;
  int64_t now_ns_ = 0;
};

int Main(size_t events) {
  nanolane::bench::PrintMachine();
  const SessionBuilder builder = LargeSession(kLanes, events);
  std::vector<LoaderMessage> messages = LoaderMessages(builder);
  TimelineModel model;
  const nanolane::bench::Stopwatch watch;
  for (LoaderMessage& message : messages) model.Apply(std::move(message));
  std::printf("%zu events in %zu lanes, taken in (decoded already) in %.3f s\n", events, kLanes,
              watch.Seconds());
  size_t bytes = 0;
  for (const auto& lane : model.lanes()) bytes += lane->MemoryBytes();
  std::printf("memory: %.1f bytes per event, all columns reachable\n",
              static_cast<double>(bytes) / static_cast<double>(events));
  const auto gl = EglHeadless::Create();
  if (!gl.ok()) {
    std::fprintf(stderr, "%s\n", std::string(gl.status().message()).c_str());
    return 1;
  }
  const auto target = FrameTarget::Create(kWidth, kHeight);
  if (!target.ok()) return 1;
  std::printf("OpenGL: %s\n", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
  Bench(model).Run(*target);
  return 0;
}

}  // namespace
}  // namespace nanolane::desktop

int main(int argc, char** argv) {
  return nanolane::desktop::Main(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
}
