// tiles_bench: sealed lanes in memory (20 lanes, 1,600 px): bytes per event of groups, pages and
// roots, events per second of planning and building their rows, and the processor time of a
// view's columns with what they read. One core. Medians of repeats.
//
//   tiles_bench [EVENTS…]   events in all lanes together; 10,000,000 and 100,000,000 when left out
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/tile_test_lane.h"

namespace nanolane::timeline {
namespace {

using bench::Samples;
using bench::Stopwatch;

constexpr size_t kLanes = 20;
constexpr uint32_t kWidth = 1'600;
constexpr uint32_t kLabels = 200;

double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A training step's kernels over and over: each label has its duration, give or take a tenth; about
// 30 labels among 256 events.
class KernelMaker {
 public:
  explicit KernelMaker(uint64_t seed, int64_t overlap_one_in)
      : make_(seed), overlap_one_in_(overlap_one_in) {
    for (uint32_t i = 0; i < kLabels; ++i) {
      duration_ns_.push_back(2'000 +
                             static_cast<int64_t>(98'000.0 / static_cast<double>(1 + i % 50)));
    }
    for (uint32_t i = 0; i < 2'048; ++i) {  // a layer uses 30 labels, the next one others
      const int64_t layer = i / 256;
      sequence_.push_back(static_cast<uint32_t>((layer * 23 + make_.Int(0, 29)) % kLabels));
    }
  }

  std::vector<TileSpan> Next(size_t count) {
    std::vector<TileSpan> events;
    events.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const uint32_t label = sequence_[at_++ % sequence_.size()];
      const int64_t typical = duration_ns_[label];
      const int64_t duration = typical + make_.Int(-typical / 10, typical / 10);
      const bool overlaps = overlap_one_in_ > 0 && make_.OneIn(overlap_one_in_);
      now_ns_ += overlaps ? -1'000 : make_.Int(2'000, 10'000);
      events.push_back(SpanOf(now_ns_, duration, label));
      now_ns_ += duration;
    }
    return events;
  }

 private:
  LaneMaker make_;
  int64_t overlap_one_in_;
  std::vector<int64_t> duration_ns_;
  std::vector<uint32_t> sequence_;
  size_t at_ = 0;
  int64_t now_ns_ = 1'700'000'000'000'000'000;
};

struct Scene {
  std::vector<TestLane> lanes = std::vector<TestLane>(kLanes);
  std::vector<Label> labels;
  Window extent = {INT64_MAX, INT64_MIN};
  size_t events = 0;

  void Build(size_t total, int64_t overlap_one_in) {
    for (uint32_t i = 0; i < kLabels; ++i) {
      labels.push_back({static_cast<trace::Category>(i % 7), 1'000 - i});
    }
    double seconds = 0;
    for (size_t i = 0; i < kLanes; ++i) {
      KernelMaker make(i, overlap_one_in);
      for (size_t left = total / kLanes; left > 0;) {
        std::vector<TileSpan> step = make.Next(std::min(left, kMaxStepEvents));
        left -= step.size();
        events += step.size();
        extent.start_ns = std::min(extent.start_ns, step.front().start_ns);
        extent.end_ns = std::max(extent.end_ns, step.back().end_ns);
        const Stopwatch watch;
        if (!lanes[i].Seal(std::move(step)).ok()) std::abort();
        seconds += watch.Seconds();
      }
    }
    std::printf("  sealed (planned, built): %.2f M events/s\n",
                static_cast<double>(events) / seconds / 1e6);
  }

  void PrintSizes() const {
    size_t roots = 0;
    size_t pages = 0;
    size_t groups = 0;
    size_t rows = 0;
    for (const TestLane& lane : lanes) {
      for (const TestLane::Row& row : lane.rows()) {
        ++rows;
        roots += row.bytes.root.size();
        for (const std::string& page : row.bytes.pages) pages += page.size();
        for (const std::string& group : row.bytes.groups) groups += group.size();
      }
    }
    const auto per_event = [this](size_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(events);
    };
    std::printf("  bytes per event: groups %.3f, pages %.3f, roots %.3f; %zu rows\n",
                per_event(groups), per_event(pages), per_event(roots), rows);
  }

  // Of processor time.
  double Milliseconds(const Window& window) const {
    const double before = ProcessorSeconds();
    LaneTiles tiles(window, kWidth);
    for (const TestLane& lane : lanes) {
      if (!lane.Columns(tiles, window, kWidth, labels).ok()) std::abort();
    }
    return (ProcessorSeconds() - before) * 1e3;
  }

  // Pages and groups that one view reads.
  void PrintReads(const Window& window) const {
    size_t pages = 0;
    size_t groups = 0;
    size_t bytes = 0;
    for (const TestLane& lane : lanes) {
      LaneTiles tiles(window, kWidth);
      for (const TestLane::Row& row : lane.rows()) {
        MemoryRow source(row.bytes);
        if (!tiles.AddRow(row.bytes.root, source, row.role, row.label_of).ok()) std::abort();
        pages += source.pages.size();
        groups += source.groups.size();
        const RowSummary summary = *SummaryOf(row.bytes.root);
        if (summary.first_ns < window.end_ns && summary.last_ns >= window.start_ns) {
          bytes += row.bytes.root.size();
        }
        for (const uint32_t page : source.pages) bytes += row.bytes.pages[page].size();
        for (const uint32_t group : source.groups) bytes += row.bytes.groups[group].size();
      }
    }
    std::printf("; reads %zu pages, %zu groups, %.1f MB\n", pages, groups,
                static_cast<double>(bytes) / 1e6);
  }
};

void BenchView(const Scene& scene, int64_t part) {
  LaneMaker make(static_cast<uint64_t>(part));
  Samples samples;
  Window window = scene.extent;
  const int64_t length = std::max<int64_t>(scene.extent.span() / part, 1);
  for (int i = 0; i < (part == 1 ? 7 : 15); ++i) {
    if (part > 1) {
      window.start_ns = make.Int(scene.extent.start_ns, scene.extent.end_ns - length);
      window.end_ns = window.start_ns + length;
    }
    samples.Add(scene.Milliseconds(window));
  }
  std::printf("  1/%-8lld of the time: %8.2f ms (%.2f … %.2f)", static_cast<long long>(part),
              samples.Median(), samples.Lowest(), samples.Highest());
  scene.PrintReads(window);
}

void Run(size_t events, int64_t overlap_one_in) {
  std::printf("\n%zu events in %zu lanes, %u px; overlapping: %s\n", events, kLanes, kWidth,
              overlap_one_in == 0 ? "none" : ("1 in " + std::to_string(overlap_one_in)).c_str());
  Scene scene;
  scene.Build(events, overlap_one_in);
  scene.PrintSizes();
  for (const int64_t part : {1, 10, 1'000, 100'000}) BenchView(scene, part);
}

}  // namespace
}  // namespace nanolane::timeline

int main(int argc, char** argv) {
  nanolane::bench::PrintMachine();
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {10'000'000, 100'000'000};
  for (const size_t events : sizes) nanolane::timeline::Run(events, 0);
  nanolane::timeline::Run(sizes.front(), 20);
  return 0;
}
