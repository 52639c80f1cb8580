// The collector's delivery against the store itself, which goes away and comes back.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "libs/base/clock.h"
#include "libs/ingest/block_builder.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/server.h"
#include "services/collector/delivery/delivery.h"
#include "services/collector/delivery/spool_replay.h"
#include "services/collector/delivery/stored_sequence.h"
#include "services/store/store_engine.h"
#include "services/store/store_service.h"
#include "tests/support/temp_folder.h"

namespace nanolane {
namespace {

namespace store_v1 = nanolane::store::v1;

constexpr char kSessionId[] = "00112233445566778899aabbccddeeff";
constexpr std::chrono::seconds kSoon(60);

// A store in this process, over a folder and under an address that outlive it.
struct RunningStore {
  RunningStore(const std::string& folder, const base::Clock& clock) {
    store::StoreEngineOptions options;
    options.store.path = folder + "/store";
    auto started = store::StoreEngine::Start(options, clock);
    REQUIRE(started.ok());
    engine = *std::move(started);
    service = std::make_unique<store::StoreService>(*engine);
    auto listening =
        rpc::Server::Start({.listen = "unix:" + folder + "/socket", .services = {service.get()}});
    REQUIRE(listening.ok());
    server = *std::move(listening);
  }

  std::unique_ptr<store::StoreEngine> engine;
  std::unique_ptr<store::StoreService> service;
  std::unique_ptr<rpc::Server> server;
};

// Pushes `count` events of three lanes, as a capture does.
void Capture(ingest::BlockBuilder& builder, collector::Delivery& delivery, int from, int count) {
  trace::DictionaryBuilder& dictionary = builder.dictionary();
  for (int i = from; i < from + count; ++i) {
    const trace::LaneId lane =
        dictionary.Intern(trace::Lane{.kind = trace::LaneKind::kStream, .stream = i % 3});
    const trace::OpId op = dictionary.Intern(
        trace::Op{.kind = trace::EventKind::kKernel,
                  .name = dictionary.Intern("kernel " + std::to_string(i / 100))});
    REQUIRE(builder.Add(lane, {.op = op, .start_ns = i * 10, .duration_ns = 5}).ok());
    for (auto& append : builder.TakeFull()) REQUIRE(delivery.Push(std::move(append)).ok());
  }
  REQUIRE(builder.CutAll().ok());
  for (auto& append : builder.Take()) REQUIRE(delivery.Push(std::move(append)).ok());
}

TEST_CASE("a session reaches a store that restarts, through a collector that does") {
  const testing::TempFolder folder;
  const base::SystemClock clock;
  auto store = std::make_unique<RunningStore>(folder.path(), clock);
  const auto channel = rpc::OpenChannel("unix:" + folder.path() + "/socket");
  const auto stub = store_v1::StoreService::NewStub(channel);
  const collector::DeliveryOptions options = {.store = channel,
                                              .memory_bytes = 64 << 10,
                                              .spool_after = std::chrono::milliseconds(10),
                                              .retry_least = std::chrono::milliseconds(1),
                                              .retry_most = std::chrono::milliseconds(20)};
  const collector::SpoolOptions spool_options = {
      .folder = folder.path() + "/spool", .bytes = 64 << 20, .file_bytes = 32 << 10};
  const ingest::BlockBuilderOptions block_options = {.block_events = 64, .append_bytes = 2'000};
  nanolane::trace::v1::Session session;
  session.set_session_id(kSessionId);

  uint64_t first_pushed = 0;
  {
    auto spool = collector::Spool::Open(spool_options);
    REQUIRE(spool.ok());
    auto delivery = collector::Delivery::Open(**spool, options, session, 1);
    REQUIRE(delivery.ok());
    ingest::BlockBuilder builder(block_options);
    Capture(builder, **delivery, 0, 20'000);
    REQUIRE((*delivery)->WaitDelivered(kSoon));
    const auto stored = collector::StoredSequence(**spool, *stub, kSessionId, 1);
    CHECK(stored.value_or(0) == (*delivery)->pushed_sequence());
    CHECK(collector::StoredSequence(**spool, *stub, kSessionId, 2).value_or(99) == 0);
    store = nullptr;
    Capture(builder, **delivery, 20'000, 20'000);
    first_pushed = (*delivery)->pushed_sequence();
  }
  auto spool = collector::Spool::Open(spool_options);
  REQUIRE(spool.ok());
  CHECK(collector::StoredSequence(**spool, *stub, kSessionId, 1).value_or(0) == first_pushed);
  auto delivery = collector::Delivery::Open(**spool, options, session, 2);
  REQUIRE(delivery.ok());
  collector::SpoolReplay replay(**spool, options);
  ingest::BlockBuilder builder(block_options);
  Capture(builder, **delivery, 40'000, 20'000);
  REQUIRE((*delivery)->Finish(session).ok());
  store = std::make_unique<RunningStore>(folder.path(), clock);
  REQUIRE((*delivery)->WaitDelivered(kSoon));
  CHECK(replay.WaitDone(kSoon));

  const auto known = store->engine->store().GetSession(kSessionId);
  REQUIRE(known.ok());
  CHECK(known->summary().events() == 60'000);
  CHECK(known->summary().session().ended());
  CHECK(known->epochs_size() == 2);
  CHECK((*spool)->used_bytes() == 0);
}

}  // namespace
}  // namespace nanolane
