#include "services/collector/delivery/delivery.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "services/collector/delivery/spool_replay.h"
#include "services/collector/delivery/stored_sequence.h"
#include "services/collector/delivery/test_support.h"

namespace nanolane::collector {
namespace {

namespace store_v1 = nanolane::store::v1;

using Act = FakeStore::Act;

// A spool in a folder of its own and a store, with a way to open deliveries.
class Bench {
 public:
  explicit Bench(uint64_t spool_bytes = 64 << 20) : options(QuickOptions(store)) {
    spool_options = SpoolIn(folder.path());
    spool_options.bytes = spool_bytes;
    Reopen();
  }

  void Reopen() {
    spool = nullptr;
    auto opened = Spool::Open(spool_options);
    REQUIRE(opened.ok());
    spool = *std::move(opened);
  }

  std::unique_ptr<Delivery> Open(uint64_t epoch = 1) {
    auto opened = Delivery::Open(*spool, options, SessionNamed(kSessionId, "first"), epoch);
    REQUIRE(opened.ok());
    return *std::move(opened);
  }

  size_t Files(const std::string& suffix) const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(spool_options.folder)) {
      if (entry.path().extension() == suffix) ++count;
    }
    return count;
  }

  const testing::TempFolder folder;
  FakeStore store;
  SpoolOptions spool_options;
  DeliveryOptions options;
  std::unique_ptr<Spool> spool;
};

std::string Block(int i) { return std::to_string(i) + std::string(500, 'x'); }

std::vector<std::string> Blocks(int first, int last) {
  std::vector<std::string> blocks;
  for (int i = first; i <= last; ++i) blocks.push_back(Block(i));
  return blocks;
}

void PushAll(Delivery& delivery, int first, int last) {
  for (int i = first; i <= last; ++i) {
    const auto sequence = delivery.Push(RequestOf(Block(i)));
    REQUIRE(sequence.ok());
    CHECK(*sequence == static_cast<uint64_t>(i));
  }
}

// Waits until everything that was pushed is safe, as a capture's thread does to release its ring.
void WaitSafe(Delivery& delivery) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (delivery.safe_sequence() < delivery.pushed_sequence()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
}

TEST_CASE("requests reach the store in order, with the session and its end") {
  Bench bench;
  const auto delivery = bench.Open();
  PushAll(*delivery, 1, 50);
  REQUIRE(delivery->Finish(SessionNamed(kSessionId, "last")).ok());
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(delivery->acknowledged_sequence() == 51);
  CHECK(delivery->safe_sequence() == 51);
  std::vector<std::string> expected = Blocks(1, 50);
  expected.push_back("");
  CHECK(bench.store.Taken(1) == expected);
  CHECK(bench.store.SessionOf().host() == "last");
  CHECK(bench.store.SessionOf().ended());
  CHECK(bench.Files(".spool") == 0);
}

TEST_CASE("a store that is away is served from the spool once it is back") {
  Bench bench;
  bench.store.Stop();
  const auto delivery = bench.Open();
  PushAll(*delivery, 1, 100);
  REQUIRE(delivery->Finish(SessionNamed(kSessionId)).ok());
  CHECK(delivery->safe_sequence() == 101);
  CHECK(delivery->acknowledged_sequence() == 0);
  CHECK(delivery->spooled_bytes() > 50'000);
  CHECK(absl::IsUnavailable(delivery->last_problem()));
  CHECK_FALSE(delivery->WaitDelivered(std::chrono::milliseconds(1)));
  bench.store.Start();
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(bench.store.Taken(1).size() == 101);
  CHECK(delivery->spooled_bytes() == 0);
  CHECK(bench.spool->used_bytes() == 0);
  CHECK(delivery->last_problem().ok());
}

TEST_CASE("a store that hangs fills memory, then the spool, and a new stream goes on") {
  Bench bench;
  bench.store.Do(Act::kHang);
  const auto delivery = bench.Open();
  PushAll(*delivery, 1, 40);
  WaitSafe(*delivery);
  CHECK(delivery->acknowledged_sequence() == 0);
  CHECK(delivery->spooled_bytes() > 0);
  bench.store.Do(Act::kTake);
  // Nothing but the time without an acknowledgement ends the stream.
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(bench.store.Taken(1) == Blocks(1, 40));
}

TEST_CASE("what was taken without an acknowledgement is sent again and stored once") {
  Bench bench;
  int messages = 0;
  bench.store.Do([&messages](const store_v1::AppendRequest&) {
    return ++messages % 3 == 0 ? Act::kTakeAndBreak : Act::kTake;
  });
  const auto delivery = bench.Open();
  PushAll(*delivery, 1, 60);
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(bench.store.Taken(1) == Blocks(1, 60));
  CHECK(bench.store.streams() > 10);
}

TEST_CASE("a break at the last request does not take back what it said of the session") {
  for (const bool spooled : {false, true}) {
    Bench bench;
    bench.options.spool_after = std::chrono::milliseconds(spooled ? 0 : 10'000);
    bool broken = false;
    bench.store.Do([&broken](const store_v1::AppendRequest& request) {
      const bool breaks = request.session().ended() && !broken;
      broken = broken || breaks;
      return breaks ? Act::kTakeAndBreak : Act::kTake;
    });
    const auto delivery = bench.Open();
    PushAll(*delivery, 1, 5);
    REQUIRE(delivery->Finish(SessionNamed(kSessionId, "last")).ok());
    REQUIRE(delivery->WaitDelivered(kSoon));
    CHECK(bench.store.SessionOf().ended());
    CHECK(bench.store.SessionOf().host() == "last");
  }
}

TEST_CASE("a full store is away, and says so") {
  Bench bench;
  bench.store.Do(Act::kFull);
  const auto delivery = bench.Open();
  PushAll(*delivery, 1, 30);
  WaitSafe(*delivery);
  REQUIRE(bench.store.WaitMessages(3));
  CHECK(delivery->failure().ok());
  CHECK(absl::IsResourceExhausted(delivery->last_problem()));
  bench.store.Do(Act::kTake);
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(bench.store.Taken(1) == Blocks(1, 30));
}

TEST_CASE("what the store refuses is kept aside and not sent again") {
  Bench bench;
  bench.store.Do([](const store_v1::AppendRequest& request) {
    return request.sequence() == 4 ? Act::kRefuse : Act::kTake;
  });
  auto delivery = bench.Open();
  PushAll(*delivery, 1, 4);
  CHECK_FALSE(delivery->WaitDelivered(kSoon));
  CHECK(absl::IsInvalidArgument(delivery->failure()));
  CHECK(absl::IsInvalidArgument(delivery->Push(RequestOf("more")).status()));
  CHECK(absl::IsInvalidArgument(delivery->Finish(SessionNamed(kSessionId))));
  CHECK(bench.store.Taken(1) == Blocks(1, 3));
  CHECK(bench.store.streams() == 1);
  CHECK(bench.spool->refused() == 1);
  CHECK(bench.Files(".spool") == 0);
  CHECK(bench.Files(".refused") == 1);
  delivery = nullptr;
  bench.Reopen();
  CHECK(bench.spool->TakeLeftovers().empty());
  CHECK(bench.spool->HeldOf(kSessionId, 1)->last_sequence == 4);
}

TEST_CASE("a full spool takes nothing, and goes on when there is room") {
  Bench bench(20'000);
  bench.store.Do(Act::kFull);
  const auto delivery = bench.Open();
  int taken = 0;
  absl::Status status;
  while (taken < 1'000) {
    const auto pushed = delivery->Push(RequestOf(Block(taken + 1)));
    status = pushed.status();
    if (!status.ok()) break;
    ++taken;
  }
  CHECK(absl::IsResourceExhausted(status));
  CHECK(taken > 30);
  CHECK(taken < 60);
  CHECK(bench.spool->used_bytes() <= 20'000);
  CHECK(absl::IsResourceExhausted(delivery->Finish(SessionNamed(kSessionId))));
  bench.store.Do(Act::kTake);
  REQUIRE(delivery->WaitDelivered(kSoon));
  // The end was kept in mind at the first call, and is not made twice.
  REQUIRE(delivery->Finish(SessionNamed(kSessionId)).ok());
  std::vector<std::string> expected = Blocks(1, taken);
  expected.push_back("");
  CHECK(bench.store.Taken(1) == expected);
  CHECK(bench.spool->used_bytes() == 0);
}

TEST_CASE("what an orderly end leaves in memory is delivered by the next collector") {
  Bench bench;
  bench.options.spool_after = std::chrono::hours(1);
  bench.options.memory_bytes = 1 << 20;
  bench.store.Do([](const store_v1::AppendRequest& request) {
    return request.sequence() <= 3 ? Act::kTake : Act::kHang;
  });
  auto delivery = bench.Open(1);
  PushAll(*delivery, 1, 20);
  REQUIRE(bench.store.WaitMessages(4));
  delivery = nullptr;
  CHECK(bench.Files(".spool") > 0);
  bench.Reopen();
  bench.store.Do(Act::kTake);

  // The next epoch waits for the one before it.
  delivery = bench.Open(2);
  store_v1::AppendRequest second = RequestOf("second");
  *second.mutable_session() = SessionNamed(kSessionId, "second");
  REQUIRE(delivery->Push(second).ok());
  CHECK(bench.store.Taken(2).empty());
  SpoolReplay replay(*bench.spool, bench.options);
  REQUIRE(replay.WaitDone(kSoon));
  CHECK(bench.store.Taken(1) == Blocks(1, 20));
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(bench.store.SessionOf().host() == "second");
  CHECK(bench.spool->used_bytes() == 0);
}

TEST_CASE("a replay ends promptly while the store is away") {
  Bench bench;
  bench.store.Do(Act::kFull);
  auto delivery = bench.Open(1);
  PushAll(*delivery, 1, 3);
  delivery = nullptr;
  bench.Reopen();
  SpoolReplay replay(*bench.spool, bench.options);
  CHECK_FALSE(replay.WaitDone(std::chrono::milliseconds(1)));
  CHECK(replay.left() == 1);
}

TEST_CASE("a stored sequence is told by the spool or asked of the store") {
  Bench bench;
  const auto stub = store_v1::StoreService::NewStub(bench.store.channel());
  const auto stored = [&](uint64_t epoch) {
    return StoredSequence(*bench.spool, *stub, kSessionId, epoch);
  };
  CHECK(stored(1).value_or(99) == 0);
  auto delivery = bench.Open(1);
  PushAll(*delivery, 1, 7);
  REQUIRE(delivery->WaitDelivered(kSoon));
  CHECK(stored(1).value_or(99) == 7);
  CHECK(stored(2).value_or(99) == 0);
  CHECK(bench.store.Taken(1) == Blocks(1, 7));  // asking changes nothing
  bench.store.Stop();
  CHECK(absl::IsUnavailable(stored(1).status()));
  PushAll(*delivery, 8, 30);
  WaitSafe(*delivery);
  // Those that were sent before the store went may be there or not, until all of them are spooled.
  CHECK(stored(1).value_or(99) == 30);
}

TEST_CASE("requests that no store takes are not taken") {
  Bench bench;
  const auto delivery = bench.Open();
  CHECK(absl::IsInvalidArgument(delivery->Push(RequestOf(std::string(8 << 20, 'x'))).status()));
  store_v1::AppendRequest other = RequestOf("x");
  *other.mutable_session() = SessionNamed("ffeeddccbbaa99887766554433221100");
  CHECK(absl::IsInvalidArgument(delivery->Push(other).status()));
  CHECK(delivery->pushed_sequence() == 0);
  REQUIRE(delivery->Push(RequestOf(std::string(7 << 20, 'x'))).ok());
  REQUIRE(delivery->WaitDelivered(kSoon));
}

TEST_CASE("a store that has more than was written is somebody else's, and nothing is sent") {
  Bench bench;
  {
    const auto first = bench.Open(1);
    PushAll(*first, 1, 5);
    REQUIRE(first->WaitDelivered(kSoon));
  }
  const auto second = bench.Open(1);
  PushAll(*second, 1, 1);
  CHECK_FALSE(second->WaitDelivered(kSoon));
  CHECK(absl::IsFailedPrecondition(second->failure()));
}

}  // namespace
}  // namespace nanolane::collector
