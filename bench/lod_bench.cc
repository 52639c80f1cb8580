// Level of detail: time of the pixel columns of a whole view (20 lanes, 1,600 px), of taking events
// in, and memory, beside the oracle's plain loops over the same events. Medians of repeats.
//
//   lod_bench [EVENTS…]   events in all lanes together; 1,000,000 and 10,000,000 when left out
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "libs/timeline/lane_index.h"
#include "libs/timeline/lane_index_oracle.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

constexpr size_t kLanes = 20;
constexpr size_t kWidth = 1'600;
constexpr size_t kBlockEvents = 4'096;

double MillisecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// A view of equal lanes.
struct Scene {
  std::string name;
  std::vector<LaneEvents> events;
  std::vector<LaneIndex> lanes = std::vector<LaneIndex>(kLanes);
  Window all = {INT64_MAX, INT64_MIN};

  size_t Size() const {
    size_t size = 0;
    for (const LaneIndex& lane : lanes) size += lane.size();
    return size;
  }

  // Takes the events in as they stream: block by block. Returns milliseconds.
  double Build() {
    const double took = MillisecondsOf([this] {
      for (size_t i = 0; i < kLanes; ++i) {
        for (size_t at = 0; at < events[i].size(); at += kBlockEvents) {
          lanes[i].Append(events[i].Batch(at, std::min(kBlockEvents, events[i].size() - at)));
        }
      }
    });
    for (const LaneIndex& lane : lanes) {
      all.start_ns = std::min(all.start_ns, lane.first_ns());
      all.end_ns = std::max(all.end_ns, lane.last_ns());
    }
    return took;
  }

  double BytesPerEvent() const {
    size_t bytes = 0;
    for (const LaneIndex& lane : lanes) bytes += lane.MemoryBytes();
    return static_cast<double>(bytes) / static_cast<double>(Size());
  }

  // One frame: every lane's columns.
  void Frame(const Window& window, std::vector<PixelColumn>& columns) const {
    for (const LaneIndex& lane : lanes) lane.Columns(window, columns);
  }

  size_t Events(const Window& window) const {
    size_t count = 0;
    for (const LaneIndex& lane : lanes) count += lane.Count(window);
    return count;
  }
};

struct SceneKind {
  const char* name;
  LaneMaker::StreamOptions options;
  int64_t jitter;  // how many places late an event may come
};

Scene MakeScene(const SceneKind& kind, size_t events) {
  Scene scene;
  scene.name = kind.name;
  for (size_t i = 0; i < kLanes; ++i) {
    LaneMaker make(i);
    LaneMaker::StreamOptions options = kind.options;
    options.events = events / kLanes;
    LaneEvents lane = make.Stream(options);
    if (kind.jitter > 0) lane = lane.Reordered(make.Jitter(lane.size(), kind.jitter));
    scene.events.push_back(std::move(lane));
  }
  return scene;
}

Window RandomWindow(LaneMaker& make, const Window& all, int64_t length) {
  const int64_t start = make.Int(all.start_ns, std::max(all.start_ns, all.end_ns - length));
  return {start, start + length};
}

void PrintFrame(const Scene& scene, const char* view, size_t events,
                const std::vector<double>& frames) {
  const auto [best, worst] = std::minmax_element(frames.begin(), frames.end());
  std::printf("  %-28s %-22s %11zu %10.3f %10.3f %10.3f\n", scene.name.c_str(), view, events,
              Median(frames), *best, *worst);
}

void BenchFrames(const Scene& scene) {
  std::vector<PixelColumn> columns(kWidth);
  std::vector<double> frames;
  frames.reserve(50);
  for (int i = 0; i < 25; ++i) {
    frames.push_back(MillisecondsOf([&] { scene.Frame(scene.all, columns); }));
  }
  PrintFrame(scene, "everything", scene.Events(scene.all), frames);
  const int64_t span = scene.all.span();
  for (const int64_t part : {10, 1'000, 100'000}) {
    LaneMaker make(static_cast<uint64_t>(part));
    frames.clear();
    size_t events = 0;
    for (int i = 0; i < 50; ++i) {
      const Window window = RandomWindow(make, scene.all, std::max<int64_t>(span / part, 1));
      events += scene.Events(window);
      frames.push_back(MillisecondsOf([&] { scene.Frame(window, columns); }));
    }
    PrintFrame(scene, ("random 1/" + std::to_string(part)).c_str(), events / 50, frames);
  }
}

void BenchOracle(const Scene& scene) {
  std::vector<LaneOracle> oracles(kLanes);
  for (size_t i = 0; i < kLanes; ++i) oracles[i].Append(scene.events[i].All());
  std::vector<double> frames;
  frames.reserve(3);
  for (int i = 0; i < 3; ++i) {
    frames.push_back(MillisecondsOf([&] {
      for (const LaneOracle& oracle : oracles) oracle.Columns(scene.all, kWidth);
    }));
  }
  PrintFrame(scene, "everything, oracle", scene.Size(), frames);
}

void Run(size_t events) {
  const SceneKind kinds[] = {
      {"streams", {.instant_one_in = 50}, 0},
      {"streams, few categories", {.categories = 2, .instant_one_in = 50}, 0},
      {"one category", {.categories = 1, .instant_one_in = 50}, 0},
      {"1 in 20 overlaps", {.instant_one_in = 50, .overlap_one_in = 20}, 0},
      {"1 in 2 overlaps", {.instant_one_in = 50, .overlap_one_in = 2}, 0},
      {"up to 500 places late", {.instant_one_in = 50}, 500},
  };
  for (const SceneKind& kind : kinds) {
    Scene scene = MakeScene(kind, events);
    const double built = scene.Build();
    std::printf("\n  %-28s %-22s %11s %10s %10s %10s\n", "lanes", "view", "events", "median ms",
                "best ms", "worst ms");
    BenchFrames(scene);
    BenchOracle(scene);
    std::printf("  %-28s taken in: %.1f ns per event; memory: %.1f bytes per event\n",
                scene.name.c_str(), built * 1e6 / static_cast<double>(scene.Size()),
                scene.BytesPerEvent());
  }
}

}  // namespace
}  // namespace nanolane::timeline

int main(int argc, char** argv) {
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {1'000'000, 10'000'000};
  for (const size_t events : sizes) {
    std::printf("\n%zu events in %zu lanes, %zu px\n", events, nanolane::timeline::kLanes,
                nanolane::timeline::kWidth);
    nanolane::timeline::Run(events);
  }
  return 0;
}
