// Random schedules of requests, faults of the store, and deaths of the collector, held against what
// delivery promises: whatever was safe is stored once, in order, and nothing else is made up.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "libs/base/str_cat.h"
#include "services/collector/delivery/spool_replay.h"
#include "services/collector/delivery/stored_sequence.h"
#include "services/collector/delivery/test_support.h"

namespace nanolane::collector {
namespace {

namespace fs = std::filesystem;

using Act = FakeStore::Act;

// A collector process: what it has dies with it, but for the spool folder.
struct Process {
  Process(const SpoolOptions& spool_options, const DeliveryOptions& options, uint64_t epoch) {
    auto opened = Spool::Open(spool_options);
    REQUIRE(opened.ok());
    spool = *std::move(opened);
    replay = std::make_unique<SpoolReplay>(*spool, options);
    auto started = Delivery::Open(*spool, options,
                                  SessionNamed(kSessionId, base::StrCat("epoch ", epoch)), epoch);
    REQUIRE(started.ok());
    delivery = *std::move(started);
  }

  std::unique_ptr<Spool> spool;
  std::unique_ptr<SpoolReplay> replay;
  std::unique_ptr<Delivery> delivery;
};

// What a killed process leaves: its files as they are at this moment, while it writes them.
void CopyFiles(const std::string& from, const std::string& to) {
  fs::create_directory(to);
  std::error_code gone;  // a file may go meanwhile
  for (const auto& entry : fs::directory_iterator(from)) {
    fs::copy_file(entry.path(), fs::path(to) / entry.path().filename(), gone);
  }
}

class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed), options_(QuickOptions(store_)) {
    options_.memory_bytes = 500 + Below(8'000);
    options_.in_flight = 1 + Below(12);
    options_.spool_after = std::chrono::milliseconds(Below(5));
    options_.stalled_after = std::chrono::milliseconds(20);
    spool_ = SpoolIn(folder_.path());
    spool_.file_bytes = 1'000 + Below(10'000);
    spool_.bytes = Below(4) == 0 ? 30'000 : 64 << 20;
  }

  void Run() {
    constexpr uint64_t kEpochs = 4;
    Misbehave();
    for (uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
      Process process(spool_, options_, epoch);
      pushed_.emplace_back();
      const size_t steps = 20 + Below(150);
      for (size_t i = 0; i < steps; ++i) Step(*process.delivery);
      if (epoch < kEpochs) {
        Kill(process);
      } else {
        End(process);
      }
    }
    for (uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
      INFO("epoch " << epoch);
      std::vector<std::string> expected = pushed_[epoch - 1];
      if (epoch < kEpochs) expected.resize(stored_[epoch - 1]);
      CHECK(store_.Taken(epoch) == expected);
    }
    CHECK(store_.SessionOf().host() == "end");
    CHECK(store_.SessionOf().ended());
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  // A store that fails now and then.
  void Misbehave() {
    const size_t most = 1 + Below(60);
    store_.Do([random = std::mt19937(static_cast<unsigned>(random_())),
               most](const FakeStore::AppendRequest&) mutable {
      switch (random() % most) {
        case 1: return Act::kTakeAndBreak;
        case 2: return Act::kBreak;
        case 3: return Act::kHang;
        case 4: return Act::kFull;
        default: return Act::kTake;
      }
    });
  }

  void Step(Delivery& delivery) {
    switch (Below(60)) {
      case 0: store_.BreakStreams(); break;
      case 1: store_.Stop(); break;
      case 2:
      case 3: store_.Start(); break;
      case 4: Misbehave(); break;
      case 5: delivery.WaitDelivered(std::chrono::milliseconds(Below(20))); break;
      default: Push(delivery);
    }
  }

  void Push(Delivery& delivery) {
    const std::string block =
        base::StrCat(pushed_.size(), "/", pushed_.back().size() + 1, std::string(Below(700), 'x'));
    const auto pushed = delivery.Push(RequestOf(block));
    if (absl::IsResourceExhausted(pushed.status())) return;
    REQUIRE(pushed.ok());
    pushed_.back().push_back(block);
    REQUIRE(*pushed == pushed_.back().size());
  }

  void Kill(Process& process) {
    const uint64_t safe = process.delivery->safe_sequence();
    const std::string copy = base::StrCat(folder_.path(), "/spool", pushed_.size());
    CopyFiles(spool_.folder, copy);
    process.delivery = nullptr;
    process.replay = nullptr;
    process.spool = nullptr;
    spool_.folder = copy;
    // Nothing of the dead is on its way any more, and the store answers.
    store_.Stop();
    store_.Start();
    store_.Do(Act::kTake);
    auto spool = Spool::Open(spool_);
    REQUIRE(spool.ok());
    const auto stub = nanolane::store::v1::StoreService::NewStub(store_.channel());
    for (uint64_t epoch = 1; epoch <= pushed_.size(); ++epoch) {
      absl::StatusOr<uint64_t> stored = absl::UnavailableError("");
      // The channel may still be about to connect again.
      for (int i = 0; i < 10'000 && absl::IsUnavailable(stored.status()); ++i) {
        store_.channel()->WaitForConnected(std::chrono::system_clock::now() + kSoon);
        stored = StoredSequence(**spool, *stub, kSessionId, epoch);
      }
      INFO("epoch " << epoch << ": " << stored.status());
      REQUIRE(stored.ok());
      if (epoch < pushed_.size()) {
        CHECK(*stored == stored_[epoch - 1]);
        continue;
      }
      CHECK(*stored >= safe);
      CHECK(*stored <= pushed_.back().size());
      stored_.push_back(*stored);
    }
    Misbehave();
  }

  void End(Process& process) {
    store_.Start();
    store_.Do(Act::kTake);
    store_.BreakStreams();
    CHECK(process.replay->WaitDone(kSoon));
    absl::Status finished = absl::ResourceExhaustedError("");
    while (absl::IsResourceExhausted(finished)) {
      finished = process.delivery->Finish(SessionNamed(kSessionId, "end"));
    }
    CHECK(finished.ok());
    CHECK(process.delivery->WaitDelivered(kSoon));
    pushed_.back().push_back("");
    CHECK(process.spool->used_bytes() == 0);
    CHECK(process.spool->refused() == 0);
  }

  std::mt19937 random_;
  const testing::TempFolder folder_;
  FakeStore store_;
  DeliveryOptions options_;
  SpoolOptions spool_;
  std::vector<std::vector<std::string>> pushed_;  // by epoch
  std::vector<uint64_t> stored_;                  // by epoch: what was told after its end
};

TEST_CASE("whatever happens, what was safe is stored once and in order") {
  const unsigned schedules = std::getenv("NANOLANE_LONG") == nullptr ? 10 : 1'000;
  for (unsigned seed = 0; seed < schedules; ++seed) {
    INFO("seed " << seed);
    Schedule(seed).Run();
  }
}

}  // namespace
}  // namespace nanolane::collector
