// codec_bench: size and speed of the block codec on the repeated training step, by block size, with
// the share of each column, beside zstd over plain rows.
#include <zstd.h>

#include <cstdio>

#include "bench/machine.h"
#include "bench/repeated_trace.h"
#include "libs/trace/block_codec.h"

namespace {

using nanolane::bench::Samples;
using nanolane::bench::Stopwatch;
using nanolane::bench::Workload;
namespace trace = nanolane::trace;

constexpr int kRounds = 5;

std::vector<trace::EventColumns> Cut(const Workload& workload, size_t block_events) {
  std::vector<trace::EventColumns> blocks;
  for (const auto& [lane, events] : workload.lanes) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (i % block_events == 0) blocks.emplace_back();
      blocks.back().Add(events[i]);
    }
  }
  return blocks;
}

double DecodeRate(const std::vector<std::string>& blocks, size_t events, trace::ColumnSet columns) {
  Samples samples;
  for (int round = 0; round < kRounds; ++round) {
    const Stopwatch watch;
    for (const std::string& block : blocks) {
      trace::EventColumns out;
      if (!trace::DecodeBlock(block, columns, out).ok()) return 0;
    }
    samples.Add(static_cast<double>(events) / watch.Seconds() / 1e6);
  }
  return samples.Median();
}

void Measure(const Workload& workload, size_t block_events) {
  const std::vector<trace::EventColumns> cut = Cut(workload, block_events);
  std::vector<std::string> blocks;
  Samples encode;
  for (int round = 0; round < kRounds; ++round) {
    blocks.clear();
    const Stopwatch watch;
    for (const trace::EventColumns& events : cut) {
      blocks.push_back(*trace::EncodeBlock(events, {.lane = 1, .needs = {}}));
    }
    encode.Add(static_cast<double>(workload.events) / watch.Seconds() / 1e6);
  }
  size_t bytes = 0;
  for (const std::string& block : blocks) bytes += block.size();
  std::printf("%8zu  %8.3f  %8.1f  %10.1f  %13.1f\n", block_events,
              static_cast<double>(bytes) / static_cast<double>(workload.events), encode.Median(),
              DecodeRate(blocks, workload.events, trace::ColumnSet::All()),
              DecodeRate(blocks, workload.events, trace::ColumnSet::Timeline()));
}

// The same facts as rows of structures, compressed by zstd alone.
void MeasureRows(const Workload& workload) {
  size_t packed = 0;
  const Stopwatch watch;
  for (const auto& [lane, events] : workload.lanes) {
    std::string out(ZSTD_compressBound(events.size() * sizeof(trace::Event)), '\0');
    packed += ZSTD_compress(out.data(), out.size(), events.data(),
                            events.size() * sizeof(trace::Event), 3);
  }
  std::printf("    rows  %8.3f  %8.1f  (structures of %zu bytes, zstd -3)\n",
              static_cast<double>(packed) / static_cast<double>(workload.events),
              static_cast<double>(workload.events) / watch.Seconds() / 1e6, sizeof(trace::Event));
}

}  // namespace

int main() {
  nanolane::bench::PrintMachine();
  const auto workload =
      nanolane::bench::RepeatTrace(nanolane::bench::DataFile("train_gpt.pt.trace.json.gz"), {});
  if (!workload.ok()) {
    std::fprintf(stderr, "codec_bench: %s\n", workload.status().ToString().c_str());
    return 1;
  }
  std::printf("%zu events of train_gpt, repeated, jittered with a sigma of 100 ns\n",
              workload->events);
  std::printf(
      "events/block  bytes/event  enc M/s  dec all M/s  dec timeline M/s   (medians of %d)\n",
      kRounds);
  for (const size_t block_events : {1'024, 4'096, 16'384, 65'536}) Measure(*workload, block_events);
  MeasureRows(*workload);
  return 0;
}
