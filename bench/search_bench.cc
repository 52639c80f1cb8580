// A search in the viewer, from the pattern to the complete set of hits: matching the names,
// counting (known as soon as they are matched), and the index of where the hits lie, which the
// viewer builds in slices of a frame's time. Every event is of one of the names.
//
//   search_bench [EVENTS] [NAMES]   10,000,000 and 100,000 when left out
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "clients/desktop/model/search_hits.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kLanes = 20;
constexpr size_t kBlock = 65'536;

// A name as long as those of templates are.
std::string NameOf(size_t i) {
  static constexpr const char* kKinds[] = {"ampere_sgemm", "layer_norm", "elementwise",
                                           "flash_fwd"};
  return absl::StrCat("void at::native::vectorized_", kKinds[i % 4], "_kernel<4, at::native::op_",
                      i, "<float>, std::array<char*, 3>>(int, float*)");
}

// Built block by block, so that the events are held once.
void Load(size_t events, size_t names, TimelineModel& model) {
  SessionBuilder builder;
  std::vector<trace::OpId> ops;
  for (size_t i = 0; i < names; ++i) ops.push_back(builder.AddKernel(NameOf(i)));
  std::vector<trace::LaneId> lanes;
  for (size_t i = 0; i < kLanes; ++i) {
    lanes.push_back(builder.AddLane(
        {.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = static_cast<int64_t>(i)}));
    builder.Add(lanes.back(), {.op = ops[0], .start_ns = 0, .duration_ns = 1});
  }
  std::vector<LoaderMessage> messages = LoaderMessages(builder);
  std::mt19937_64 random(3);
  for (LoaderMessage& message : messages) {
    if (!std::holds_alternative<StreamEnded>(message)) model.Apply(std::move(message));
  }
  std::vector<int64_t> at(kLanes, 10);
  for (size_t sent = 0, lane = 0; sent < events; lane = (lane + 1) % kLanes) {
    BlockArrived block{.lane = lanes[lane], .epoch = 1};
    for (size_t i = 0; i < kBlock && sent < events; ++i, ++sent) {
      const uint64_t dice = random();
      const auto duration = static_cast<int64_t>(500 + dice % 9'000);
      block.columns.op.push_back(ops[dice / 16'384 % ops.size()]);
      block.columns.start_ns.push_back(at[lane]);
      block.columns.duration_ns.push_back(duration);
      at[lane] += duration + static_cast<int64_t>(dice % 2'000);
    }
    model.Apply(std::move(block));
  }
  model.Apply(StreamEnded{});
}

void Measure(const TimelineModel& model, const std::string& pattern) {
  constexpr int kRounds = 5;
  nanolane::bench::Samples matched;
  nanolane::bench::Samples counted;
  nanolane::bench::Samples complete;
  nanolane::bench::Samples slice;
  SearchHits::Totals totals;
  for (int round = 0; round < kRounds; ++round) {
    NameSearch names;
    FrameSearch frames;
    SearchHits hits;
    const nanolane::bench::Stopwatch whole;
    names.SetPattern(pattern);
    names.Update(model.names());
    matched.Add(whole.Seconds() * 1e3);
    bool done = frames.Update(model, names, 1'000'000) && hits.Work(model, names, frames, 1);
    counted.Add(whole.Seconds() * 1e3);
    while (!done) {
      const nanolane::bench::Stopwatch one;
      done = hits.Work(model, names, frames, Viewer::kSearchWorkPerFrame);
      slice.Add(one.Seconds() * 1e3);
    }
    complete.Add(whole.Seconds() * 1e3);
    totals = hits.totals();
  }
  std::printf("%-28s %9llu hits  names %6.1f ms  counted %6.1f ms  indexed %7.1f ms",
              pattern.c_str(), static_cast<unsigned long long>(totals.events), matched.Median(),
              counted.Median(), complete.Median());
  std::printf("  slices: p50 %.1f, p95 %.1f ms\n", slice.Median(), slice.Quantile(0.95));
}

int Main(size_t events, size_t names) {
  nanolane::bench::PrintMachine();
  TimelineModel model;
  const nanolane::bench::Stopwatch watch;
  Load(events, names, model);
  std::printf("%zu events in %zu lanes, %zu names, made and taken in in %.2f s\n", events, kLanes,
              names, watch.Seconds());
  for (const char* pattern : {"op_4711<", "sgemm.*op_12", "layer_norm", "(gemm|norm).*[02468]<",
                              "kernel", "no such name"}) {
    Measure(model, pattern);
  }
  return 0;
}

}  // namespace
}  // namespace nanolane::desktop

int main(int argc, char** argv) {
  return nanolane::desktop::Main(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000'000,
                                 argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100'000);
}
