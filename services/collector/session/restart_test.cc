// Collectors that die at any moment of a capture: what they and their successors have stored is
// together every event exactly once, and every kernel has its launch call.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/session/losses.h"
#include "services/collector/session/testing/capture_rig.h"

namespace nanolane::collector {
namespace {

// Where a collector dies within a batch.
enum class Death { kNone, kBeforeMarks, kBeforeStore, kAfterStore };

// A collector, from its start to its death.
struct Life {
  explicit Life(std::unique_ptr<RingMemory> memory)
      : ring(std::move(memory)), reader(*ring), batch(reader, {}) {}

  std::unique_ptr<RingMemory> ring;
  RingReader reader;
  Batch batch;
  SeenEvents seen;
  uint64_t sequence = 0;  // also what is stored, when it dies
};

class Capture {
 public:
  explicit Capture(uint64_t seed)
      : random_(seed),
        ring_(*RingMemory::Create({.page_count = 128, .facts_bytes = 4096})),
        writer_(*ring_) {
    writer_.WriteName(1, "kernel");
    life_ = std::make_unique<Life>(Handed());
  }

  // The times of all events that are stored, sorted.
  std::vector<int64_t> Stored() const {
    std::vector<int64_t> starts = stored_;
    std::sort(starts.begin(), starts.end());
    return starts;
  }
  uint64_t written() const { return written_; }
  Life& life() { return *life_; }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      WriteSome();
      if (Draw(4) == 0) writer_.Close(Draw(4));
      if (Draw(3) != 0) continue;
      const auto death = static_cast<Death>(Draw(8));
      TakeBatch(death);
      if (death >= Death::kBeforeMarks && death <= Death::kAfterStore) Restart();
    }
    // Launches whose kernels are still to come.
    for (const uint32_t correlation : std::exchange(open_, {})) WriteKernel(correlation);
    writer_.Stop();
    TakeBatch(Death::kNone);
    TakeBatch(Death::kNone);
    REQUIRE(life_->reader.Finished());
    REQUIRE(life_->batch.Finish().ok());
    Store(Death::kNone);
    Collect();
  }

 private:
  uint32_t Draw(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::unique_ptr<RingMemory> Handed() { return *RingMemory::Adopt(dup(ring_->descriptor())); }

  void WriteKernel(uint32_t correlation) {
    REQUIRE(writer_.Write(Draw(4), wire::KernelRecord{.start_ns = static_cast<int64_t>(++written_),
                                                      .correlation = correlation,
                                                      .name = 1}));
  }

  // A kernel comes before, with, or long after its launch.
  void WriteSome() {
    for (uint32_t i = Draw(20); i > 0; --i) {
      const uint32_t correlation = ++correlation_;
      const bool first = Draw(4) == 0;
      if (first) WriteKernel(correlation);
      REQUIRE(writer_.Write(4 + Draw(2), wire::LaunchRecord{.start_ns = -int64_t{correlation},
                                                            .correlation = correlation,
                                                            .cbid = 211}));
      if (!first) open_.push_back(correlation);
    }
    while (!open_.empty() && Draw(8) != 0) {
      const size_t at = Draw(static_cast<uint32_t>(open_.size()));
      WriteKernel(open_[at]);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    REQUIRE(writer_.Write(Draw(4), wire::NvtxRecord{.start_ns = static_cast<int64_t>(++written_)}));
  }

  void TakeBatch(Death death) {
    REQUIRE(life_->batch.Fill(0).ok());
    Store(death);
  }

  void Store(Death death) {
    Life& life = *life_;
    if (life.batch.empty()) return;
    const auto appends = life.batch.Cut();
    REQUIRE(appends.ok());
    if (death == Death::kBeforeMarks) return;
    life.batch.MarkAll(life.sequence + appends->size());
    if (death == Death::kBeforeStore) return;
    life.sequence += appends->size();
    life.seen.Add(*appends);
    if (death == Death::kAfterStore) return;
    // Sometimes the acknowledgement is late.
    if (Draw(3) != 0) life.reader.SetSafe(life.sequence);
  }

  void Collect() {
    for (const SeenEvent& seen : life_->seen.events()) {
      stored_.push_back(seen.event.start_ns);
      if (seen.name != "kernel") continue;
      CHECK(seen.event.launch_start_ns == -static_cast<int64_t>(seen.event.correlation));
    }
  }

  void Restart() {
    Collect();
    const uint64_t stored = life_->sequence;
    life_.reset();
    auto next = std::make_unique<Life>(Handed());
    // One of them dies while it adopts, or right after it.
    if (Draw(4) == 0) {
      next->reader.Adopt(stored, ++epoch_);
      next = std::make_unique<Life>(Handed());
      next->reader.Adopt(0, ++epoch_);
    } else {
      next->reader.Adopt(stored, ++epoch_);
    }
    life_ = std::move(next);
  }

  std::mt19937_64 random_;
  std::unique_ptr<RingMemory> ring_;
  RingWriter writer_;
  std::unique_ptr<Life> life_;
  uint64_t epoch_ = 1;
  uint64_t written_ = 0;
  uint32_t correlation_ = 0;
  std::vector<uint32_t> open_;
  std::vector<int64_t> stored_;
};

}  // namespace

TEST_CASE("over any number of restarts every event is stored exactly once, with its launch") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Capture capture(seed);
    capture.Run(150);
    const std::vector<int64_t> stored = capture.Stored();
    REQUIRE(stored.size() == capture.written());
    for (size_t i = 0; i < stored.size(); ++i) {
      REQUIRE(stored[i] == static_cast<int64_t>(i + 1));
    }
    // No launch that met its kernel under another collector is taken for lost.
    CHECK(capture.life().batch.builder().counts().launches_unmatched == 0);
    CHECK(capture.life().batch.builder().counts().unlaunched_work == 0);
    CHECK(capture.life().reader.corrupt_pages() == 0);
  }
}

}  // namespace nanolane::collector
