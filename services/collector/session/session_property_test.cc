// Random captures against the plain definition of what comes of them: a list of records, each of
// which becomes one event.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "libs/base/str_cat.h"
#include "services/collector/session/losses.h"
#include "services/collector/session/testing/capture_rig.h"

namespace nanolane::collector {
namespace {

// What the model keeps of an event, as one line.
std::string Line(const trace::Lane& lane, const std::string& name, const trace::Event& event) {
  return base::StrCat(trace::ToString(lane.kind), " gpu ", lane.gpu_index, " stream ", lane.stream,
                      " thread ", lane.thread, " | ", name, " | ", event.start_ns, "+",
                      event.duration_ns, " | ", event.launch_start_ns, "+",
                      event.launch_duration_ns, " by ", event.thread, " | ", event.correlation, " ",
                      event.graph_node, " ", event.bytes, " ", event.level_bytes);
}

// Writes a random record and remembers what should come of it.
class RandomCapture {
 public:
  RandomCapture(RingWriter& writer, uint64_t seed) : writer_(writer), random_(seed) {
    for (uint32_t i = 1; i <= 5; ++i) writer_.WriteName(i, base::StrCat("name", i));
  }

  void Step() {
    switch (Draw(12)) {
      case 0: writer_.Close(Draw(kThreads)); return;
      case 1:
      case 2:
      case 3: return WriteLaunch();
      case 4: return WriteCopy();
      case 5: return WriteSync();
      case 6: return WriteRange();
      case 7: return WriteMemory();
      default: return WriteKernel();
    }
  }

  uint32_t Draw(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  // Every event, joined to the launch of its correlation wherever that stands.
  std::vector<std::string> Expected() const {
    std::vector<std::string> lines;
    for (Plain plain : events_) {
      const auto launch = launches_.find(plain.event.correlation);
      if (plain.is_device && launch != launches_.end()) {
        plain.event.launch_start_ns = launch->second.launch_start_ns;
        plain.event.launch_duration_ns = launch->second.launch_duration_ns;
        plain.event.thread = launch->second.thread;
      }
      lines.push_back(Line(plain.lane, plain.name, plain.event));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  // Kernel launches whose correlation no device work has.
  uint64_t ExpectedUnmatched() const {
    uint64_t count = 0;
    for (const auto& [correlation, launch] : launches_) {
      const bool met = std::any_of(events_.begin(), events_.end(), [&](const Plain& plain) {
        return plain.is_device && plain.event.correlation == correlation;
      });
      if (!met && launch.graph_node == 1) ++count;
    }
    return count;
  }

 private:
  static constexpr uint32_t kThreads = 6;
  struct Plain {
    trace::Lane lane;
    std::string name;
    trace::Event event;
    bool is_device = false;
  };

  uint32_t Thread() { return Draw(kThreads); }
  int64_t Time() { return Draw(1'000'000); }

  void WriteLaunch() {
    const uint32_t correlation = ++correlation_;
    const uint32_t thread = Thread();
    const bool is_kernel = Draw(2) == 0;
    trace::Event& launch = launches_[correlation];
    launch.launch_start_ns = Time();
    launch.launch_duration_ns = Draw(1000);
    launch.thread = thread;
    launch.graph_node = is_kernel ? 1 : 0;
    REQUIRE(writer_.Write(
        thread, wire::LaunchRecord{.start_ns = launch.launch_start_ns,
                                   .duration_ns = launch.launch_duration_ns,
                                   .correlation = correlation,
                                   .cbid = static_cast<uint16_t>(is_kernel ? 211 : 311)}));
  }

  // Of a launch that has been, will be, or never is written.
  uint32_t Correlation() { return Draw(8) == 0 ? 0 : Draw(correlation_ + 20); }

  void WriteKernel() {
    Plain plain = {.is_device = true};
    const uint32_t name = Draw(6);
    plain.event.start_ns = Time();
    plain.event.duration_ns = Draw(3) == 0 ? 0 : Draw(10'000);
    plain.event.correlation = Correlation();
    plain.event.graph_node = Draw(4);
    plain.lane = {.kind = trace::LaneKind::kStream,
                  .gpu_index = static_cast<int32_t>(Draw(2)),
                  .context = 1,
                  .stream = Draw(3)};
    plain.name = name == 0 ? "(name not kept)" : base::StrCat("name", name);
    REQUIRE(writer_.Write(
        Thread(), wire::KernelRecord{.start_ns = plain.event.start_ns,
                                     .duration_ns = plain.event.duration_ns,
                                     .correlation = static_cast<uint32_t>(plain.event.correlation),
                                     .name = name,
                                     .device = static_cast<uint32_t>(plain.lane.gpu_index),
                                     .context = 1,
                                     .stream = static_cast<uint32_t>(plain.lane.stream),
                                     .graph_node = plain.event.graph_node}));
    events_.push_back(plain);
  }

  void WriteCopy() {
    Plain plain = {.is_device = true};
    plain.event.start_ns = Time();
    plain.event.duration_ns = Draw(10'000);
    plain.event.correlation = Correlation();
    plain.event.bytes = Draw(1 << 20);
    plain.lane = {
        .kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = Draw(3)};
    plain.name = "Memcpy DtoH (Device -> Pinned)";
    REQUIRE(writer_.Write(
        Thread(), wire::MemcpyRecord{.start_ns = plain.event.start_ns,
                                     .duration_ns = plain.event.duration_ns,
                                     .bytes = static_cast<uint64_t>(plain.event.bytes),
                                     .correlation = static_cast<uint32_t>(plain.event.correlation),
                                     .context = 1,
                                     .stream = static_cast<uint32_t>(plain.lane.stream),
                                     .copy_kind = 2,
                                     .source_kind = 3,
                                     .destination_kind = 2}));
    events_.push_back(plain);
  }

  void WriteSync() {
    const uint32_t thread = Thread();
    Plain plain;
    plain.event.start_ns = plain.event.launch_start_ns = Time();
    plain.event.duration_ns = plain.event.launch_duration_ns = Draw(5000);
    plain.event.thread = thread;
    plain.lane = {.kind = trace::LaneKind::kNoStreamSync, .gpu_index = 1};
    plain.name = "cudaDeviceSynchronize";
    REQUIRE(writer_.Write(thread, wire::SyncRecord{.start_ns = plain.event.start_ns,
                                                   .duration_ns = plain.event.duration_ns,
                                                   .stream = -1,
                                                   .event_stream = -1,
                                                   .device = 1,
                                                   .cbid = 165,
                                                   .sync_type = 4}));
    events_.push_back(plain);
  }

  void WriteRange() {
    Plain plain;
    plain.event.start_ns = Time();
    plain.event.duration_ns = Draw(5000);
    plain.event.thread = Thread();
    plain.lane = {.kind = trace::LaneKind::kNvtxThread, .thread = plain.event.thread};
    plain.name = "name3";
    REQUIRE(writer_.Write(Thread(),
                          wire::NvtxRecord{.start_ns = plain.event.start_ns,
                                           .duration_ns = plain.event.duration_ns,
                                           .name = 3,
                                           .thread = static_cast<uint32_t>(plain.event.thread)}));
    events_.push_back(plain);
  }

  void WriteMemory() {
    const uint32_t thread = Thread();
    Plain plain;
    plain.event.start_ns = Time();
    plain.event.bytes = int64_t{Draw(1000)} - 500;
    plain.event.level_bytes = Draw(1'000'000);
    plain.event.thread = thread;
    plain.lane = {.kind = trace::LaneKind::kMemoryFramework, .gpu_index = 0};
    plain.name = plain.event.bytes < 0 ? "free" : "alloc";
    REQUIRE(writer_.Write(thread,
                          wire::FrameworkMemoryRecord{
                              .time_ns = plain.event.start_ns,
                              .bytes = plain.event.bytes,
                              .allocated_bytes = static_cast<uint64_t>(plain.event.level_bytes)}));
    events_.push_back(plain);
  }

  RingWriter& writer_;
  std::mt19937_64 random_;
  uint32_t correlation_ = 0;
  std::map<uint64_t, trace::Event> launches_;  // graph_node 1: launches a kernel
  std::vector<Plain> events_;
};

}  // namespace

TEST_CASE("whatever the order of threads, pages and passes, each record becomes its event") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    // Enough pages for what waits for launch calls that never come.
    CaptureRig rig({}, 512);
    RandomCapture capture(rig.writer, seed);
    for (int step = 0; step < 3'000; ++step) {
      capture.Step();
      if (capture.Draw(50) == 0) rig.Drain();
    }
    rig.Finish();
    std::vector<std::string> lines;
    for (const SeenEvent& seen : rig.events()) {
      lines.push_back(Line(seen.lane, seen.name, seen.event));
    }
    std::sort(lines.begin(), lines.end());
    REQUIRE(lines == capture.Expected());
    CHECK(rig.batch.builder().counts().launches_unmatched == capture.ExpectedUnmatched());
    CHECK(rig.reader.corrupt_pages() == 0);
    // Everything is safe, and nothing is wanted: all pages come back.
    rig.Drain();
    CHECK(rig.writer.FreePages() == 512);
  }
}

}  // namespace nanolane::collector
