// What every store must do when it seals: the same events before and after, in fewer and larger
// blocks, whatever comes late, restarts or fails.
#include <map>
#include <random>
#include <tuple>

#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

// An event with where it stands, for comparing whole sessions.
using Row = std::tuple<uint32_t, uint64_t, int64_t, int64_t, trace::OpId, uint64_t>;

std::vector<Row> EventsOf(Store& store, const std::string& id = kSession) {
  std::vector<Row> rows;
  for (const v1::StoredBlock& block : Read(store, All(id))) {
    EventColumns events;
    REQUIRE(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), events).ok());
    CHECK(block.events() == events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      rows.emplace_back(block.lane_id(), block.epoch(), events.start_ns[i], events.duration_ns[i],
                        events.op[i], events.correlation[i]);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// A writer that sends random events of three lanes, block by block, mostly in order.
class RandomWriter {
 public:
  RandomWriter(Store& store, uint64_t epoch, uint32_t seed)
      : store_(store), writer_(kSession, epoch), random_(seed) {
    for (int64_t stream = 1; stream <= 3; ++stream) lanes_.push_back(writer_.Stream(stream));
    for (const char* name : {"gemm", "norm", "copy"}) ops_.push_back(writer_.Kernel(name));
  }

  void Send(int blocks, int events_per_block = 20) {
    for (int i = 0; i < blocks; ++i) {
      std::vector<Event> events;
      for (int j = 0; j < events_per_block; ++j) {
        now_ += static_cast<int64_t>(random_() % 20);
        const bool late = random_() % 50 == 0;
        events.push_back({.op = ops_[random_() % ops_.size()],
                          .start_ns = late ? now_ - static_cast<int64_t>(random_() % 3'000) : now_,
                          .duration_ns = static_cast<int64_t>(random_() % 30),
                          .correlation = ++correlation_});
      }
      const auto block = writer_.Block(lanes_[random_() % lanes_.size()], events);
      REQUIRE(writer_.Send(store_, writer_.Request({block})).ok());
    }
  }

  void End() { REQUIRE(writer_.End(store_).ok()); }

 private:
  Store& store_;
  Writer writer_;
  std::mt19937 random_;
  std::vector<trace::LaneId> lanes_;
  std::vector<trace::OpId> ops_;
  int64_t now_ = 0;
  uint64_t correlation_ = 0;
};

CONTRACT("an ended session is sealed into few blocks with the same events, also after a restart") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 7);
  writer.Send(60);
  writer.End();
  const std::vector<Row> before = EventsOf(subject->store());
  REQUIRE(before.size() == 1'200);
  CHECK(subject->store().GetSession(kSession)->summary().unsealed_events() == 1'200);
  CHECK(subject->SealAll() == 2);  // 1,000 events a run
  for (int round = 0; round < 2; ++round) {
    CHECK(EventsOf(subject->store()) == before);
    CHECK(Read(subject->store(), All()).size() <= 5);
    const auto session = subject->store().GetSession(kSession);
    CHECK(session->summary().events() == 1'200);
    CHECK(session->summary().unsealed_events() == 0);
    uint64_t bytes = 0;
    for (const auto& block : Read(subject->store(), All())) bytes += block.data_size();
    CHECK(session->summary().stored_bytes() == bytes);
    uint64_t blocks = 0;
    const auto lanes = subject->store().ListLanes(kSession);
    for (const auto& lane : lanes->lanes()) {
      blocks += lane.blocks();
      CHECK(lane.unsealed_events() == 0);
    }
    CHECK(blocks == Read(subject->store(), All()).size());
    CHECK(subject->SealAll() == 0);
    if (!subject->Reopen()) break;
  }
}

CONTRACT("sealed blocks are sorted, and overlap a window as their events do") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 3);
  writer.Send(40);
  writer.End();
  subject->SealAll();
  for (const v1::StoredBlock& block : Read(subject->store(), All())) {
    const auto header = trace::ReadBlockHeader(block.data());
    REQUIRE(header.ok());
    CHECK(header->sorted);
    CHECK(header->first_ns == block.start_ns());
    CHECK(header->last_ns == block.end_ns());
  }
  v1::ReadBlocksRequest window = All();
  window.mutable_window()->set_start_ns(1'000'000'000);
  window.mutable_window()->set_end_ns(1'000'000'001);
  CHECK(Read(subject->store(), window).empty());
}

CONTRACT("late blocks reopen a sealed session and are sealed in their turn") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 5);
  writer.Send(30);
  writer.End();
  subject->SealAll();
  RandomWriter late(subject->store(), 2, 6);
  late.Send(10);
  const std::vector<Row> before = EventsOf(subject->store());
  CHECK(before.size() == 800);
  CHECK(subject->store().GetSession(kSession)->summary().unsealed_events() == 200);
  late.End();
  CHECK(subject->SealAll() == 1);
  CHECK(EventsOf(subject->store()) == before);
  CHECK(subject->store().GetSession(kSession)->summary().unsealed_events() == 0);
}

CONTRACT("a session that is being written is sealed but for its newest blocks") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 9);
  writer.Send(4);
  CHECK(subject->SealAll() == 0);  // too little yet
  writer.Send(60);
  const std::vector<Row> before = EventsOf(subject->store());
  CHECK(subject->SealAll() > 0);
  const uint64_t unsealed = subject->store().GetSession(kSession)->summary().unsealed_events();
  CHECK(unsealed > 0);
  CHECK(unsealed < 500);
  CHECK(EventsOf(subject->store()) == before);
}

CONTRACT("sequences and dictionaries outlive sealing, also after a restart") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  const auto first = writer.Request({writer.Block(lane, {{.op = op, .start_ns = 1}})});
  REQUIRE(writer.Send(subject->store(), first).ok());
  REQUIRE(writer.End(subject->store()).ok());
  CHECK(subject->SealAll() == 1);
  clock.Advance(5'000);
  CHECK(*subject->store().TrimLog(kSession) == LogLeft::kNothing);
  subject->Reopen();
  REQUIRE(writer.Send(subject->store(), first).ok());  // again: stored once
  CHECK(writer.last_acknowledged() == 1);
  CHECK(EventsOf(subject->store()).size() == 1);
  const auto second = writer.Request({writer.Block(lane, {{.op = op, .start_ns = 2}})});
  REQUIRE(writer.Send(subject->store(), second).ok());
  CHECK(EventsOf(subject->store()).size() == 2);
  const auto gap = [&] {
    writer.Skip();
    return writer.Request({writer.Block(lane, {{.op = op, .start_ns = 3}})});
  }();
  CHECK(writer.Send(subject->store(), gap).code() == absl::StatusCode::kFailedPrecondition);
}

CONTRACT("a seal of a session that was deleted meanwhile, and written anew, changes nothing") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  {
    RandomWriter writer(subject->store(), 1, 11);
    writer.Send(10);
    writer.End();
  }
  auto seal = subject->store().PrepareSeal(kSession);
  REQUIRE(seal.ok());
  REQUIRE(*seal != nullptr);
  REQUIRE(subject->store().Delete(kSession).ok());
  CHECK_FALSE(subject->store().PublishSeal(**seal).ok());
  CHECK(subject->store().GetSession(kSession).status().code() == absl::StatusCode::kNotFound);
  RandomWriter again(subject->store(), 1, 12);
  again.Send(5);
  again.End();
  const std::vector<Row> before = EventsOf(subject->store());
  CHECK(before.size() == 100);
  subject->SealAll();
  CHECK(EventsOf(subject->store()) == before);
}

CONTRACT("a seal of a session that was deleted and got the same events anew changes nothing") {
  base::FakeClock clock(1'000);
  const auto subject = TestType::Make(clock);
  const auto write = [&] {
    RandomWriter writer(subject->store(), 1, 11);
    writer.Send(10);
    writer.End();
  };
  write();
  auto seal = subject->store().PrepareSeal(kSession);
  REQUIRE(seal.ok());
  REQUIRE(*seal != nullptr);
  REQUIRE(subject->store().Delete(kSession).ok());
  clock.Advance(1'000'000'000);
  write();
  const std::vector<Row> before = EventsOf(subject->store());
  CHECK(before.size() == 200);
  CHECK(subject->store().PublishSeal(**seal).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(EventsOf(subject->store()) == before);
  subject->SealAll();
  CHECK(EventsOf(subject->store()) == before);
}

CONTRACT("a seal that is never published leaves the session as it was") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 13);
  writer.Send(10);
  writer.End();
  const std::vector<Row> before = EventsOf(subject->store());
  REQUIRE(*subject->store().PrepareSeal(kSession) != nullptr);
  subject->Reopen();
  CHECK(EventsOf(subject->store()) == before);
  subject->SealAll();
  CHECK(EventsOf(subject->store()) == before);
}

TEST_CASE("what appends come between a seal's preparation and its publishing stays") {
  base::FakeClock clock;
  RocksSubject subject(clock);
  RandomWriter writer(subject.store(), 1, 15);
  writer.Send(20);
  writer.End();
  auto seal = subject.store().PrepareSeal(kSession);
  REQUIRE(*seal != nullptr);
  writer.Send(20);
  const std::vector<Row> before = EventsOf(subject.store());
  REQUIRE(subject.store().PublishSeal(**seal).ok());
  CHECK(EventsOf(subject.store()) == before);
  subject.SealAll();
  CHECK(EventsOf(subject.store()) == before);
  subject.Reopen();
  CHECK(EventsOf(subject.store()) == before);
}

CONTRACT("a reader sees one state while a session is sealed under it") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  RandomWriter writer(subject->store(), 1, 17);
  writer.Send(20);
  writer.End();
  const std::vector<Row> before = EventsOf(subject->store());
  size_t events = 0;
  bool sealed = false;
  REQUIRE(subject->store()
              .ReadBlocks(All(),
                          [&](const v1::StoredBlock& block) {
                            events += block.events();
                            if (!std::exchange(sealed, true)) {
                              subject->SealAll();
                              clock.Advance(5'000);
                              REQUIRE(subject->store().TrimLog(kSession).ok());
                            }
                            return true;
                          })
              .ok());
  CHECK(events == before.size());
}

TEST_CASE("a checkpoint is a store of its own, of the time at which it was made") {
  base::FakeClock clock;
  RocksSubject subject(clock);
  RandomWriter writer(subject.store(), 1, 19);
  writer.Send(30);
  writer.End();
  subject.SealAll();
  writer.Send(5);
  const std::vector<Row> before = EventsOf(subject.store());
  auto& store = static_cast<RocksStore&>(subject.store());
  const auto path = store.CreateCheckpoint("monday");
  REQUIRE(path.ok());
  writer.Send(5);
  CHECK(store.CreateCheckpoint("monday").status().code() == absl::StatusCode::kAlreadyExists);
  for (const char* bad : {"", "../x", "a b"}) {
    CHECK(store.CreateCheckpoint(bad).status().code() == absl::StatusCode::kInvalidArgument);
  }
  REQUIRE(subject.store().Delete(kSession).ok());
  auto copy = RocksStore::Open({.path = *path}, clock);
  REQUIRE(copy.ok());
  CHECK(EventsOf(**copy) == before);
}

CONTRACT("a store that is full refuses blocks and keeps the rest going") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock, {.seal = {}, .max_bytes = 500});
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  absl::Status status;
  int stored = 0;
  v1::AppendRequest refused;
  while (status.ok() && stored < 50) {
    refused = writer.Request({writer.Block(lane, {{.op = op, .start_ns = stored}})});
    status = writer.Send(subject->store(), refused);
    stored += status.ok() ? 1 : 0;
  }
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(stored > 0);
  CHECK(Read(subject->store(), All()).size() == static_cast<size_t>(stored));
  CHECK(writer.End(subject->store()).ok());  // it may still say that it has ended
  // Once there is room, the same append goes on where it was.
  Writer other(kOther);
  REQUIRE(subject->store().Delete(kSession).ok());
  CHECK(subject->store().StoredBytes() == 0);
  CHECK(other
            .Send(subject->store(),
                  other.Request({other.Block(other.Stream(1), {{.op = other.Kernel("k")}})}))
            .ok());
}

}  // namespace
}  // namespace nanolane::store
