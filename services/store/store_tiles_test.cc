// Tiles of the RocksDB store, sealed in runs, reopened and sealed again, against those of the store
// in memory, which looks at every event.
#include <map>
#include <random>
#include <set>

#include "services/store/op_labels.h"
#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

// Two stores that are told the same.
class Pair {
 public:
  explicit Pair(const base::Clock& clock, const SubjectOptions& options = {})
      : rocks_(clock, options), memory_(clock, options) {}

  void Send(const Writer& writer, const v1::AppendRequest& request) {
    REQUIRE(writer.Send(rocks_.store(), request).ok());
    REQUIRE(writer.Send(memory_.store(), request).ok());
  }
  RocksSubject& rocks() { return rocks_; }
  MemorySubject& memory() { return memory_; }

  // The columns of all lanes must be the same.
  void Compare(int64_t from, int64_t to, uint32_t columns) {
    v1::GetTilesRequest request;
    request.set_session_id(kSession);
    request.mutable_window()->set_start_ns(from);
    request.mutable_window()->set_end_ns(to);
    request.set_columns(columns);
    const auto never = [] { return false; };
    const auto got = rocks_.store().GetTiles(request, never);
    const auto wanted = memory_.store().GetTiles(request, never);
    REQUIRE(got.ok());
    REQUIRE(wanted.ok());
    if (got->SerializeAsString() != wanted->SerializeAsString()) {
      FAIL("window " << from << " … " << to << ", " << columns << " columns:\n"
                     << got->ShortDebugString().substr(0, 3'000) << "\nwanted\n"
                     << wanted->ShortDebugString().substr(0, 3'000));
    }
  }

 private:
  RocksSubject rocks_;
  MemorySubject memory_;
};

// Sends random blocks of streams, nested ranges and memory, in several epochs.
class Workload {
 public:
  Workload(Pair& pair, uint32_t seed) : pair_(pair), random_(seed) {}

  void Send(uint64_t epoch, int blocks) {
    Writer& writer = writers_.try_emplace(epoch, kSession, epoch).first->second;
    for (int i = 0; i < blocks; ++i) {
      std::vector<Event> events;
      const uint64_t shape = random_() % 4;
      const trace::LaneId lane = Lane(writer, shape);
      for (int j = 0; j < 60; ++j) events.push_back(One(writer, shape));
      std::stable_sort(events.begin(), events.end(),
                       [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; });
      pair_.Send(writer, writer.Request({writer.Block(lane, events)}));
    }
  }

  void End(uint64_t epoch) {
    v1::AppendRequest request;
    *request.mutable_session() = SessionNamed(kSession);
    request.mutable_session()->set_ended(true);
    pair_.Send(writers_.at(epoch), request);
  }

  void CompareSome(int windows) {
    for (int i = 0; i < windows; ++i) {
      const int64_t span = int64_t{1} << (random_() % 22);
      const auto from = static_cast<int64_t>(random_() % 200'000) - 20'000;
      pair_.Compare(from, from + span, static_cast<uint32_t>(1 + random_() % 200));
    }
    pair_.Compare(-20'000, 1'000'000, 64);
  }

 private:
  static trace::LaneId Lane(Writer& writer, uint64_t shape) {
    if (shape == 3) {
      return writer.dictionary().Intern(
          trace::Lane{.kind = trace::LaneKind::kMemoryDriver, .gpu_index = 0});
    }
    if (shape == 2) {
      return writer.dictionary().Intern(
          trace::Lane{.kind = trace::LaneKind::kNvtxThread, .thread = 9});
    }
    return writer.Stream(static_cast<int64_t>(shape));
  }

  Event One(Writer& writer, uint64_t shape) {
    now_ += static_cast<int64_t>(random_() % 30);
    const bool late = random_() % 40 == 0;
    Event event;
    event.op = writer.Kernel("k" + std::to_string(random_() % 7));
    event.start_ns = late ? now_ - static_cast<int64_t>(random_() % 20'000) : now_;
    event.duration_ns = shape == 2            ? static_cast<int64_t>(random_() % 5'000)
                        : random_() % 10 == 0 ? 0
                                              : static_cast<int64_t>(random_() % 60);
    if (shape == 3) {
      // One producer gives a track's changes, so that equal times come together; here none are.
      while (!times_.insert(event.start_ns).second) ++event.start_ns;
      event.duration_ns = 0;
      event.level_bytes =
          random_() % 9 == 0 ? trace::kNoLevel : static_cast<int64_t>(random_() % 1'000);
    }
    return event;
  }

  Pair& pair_;
  std::mt19937 random_;
  std::map<uint64_t, Writer> writers_;
  int64_t now_ = 0;
  std::set<int64_t> times_;  // of the memory lane
};

TEST_CASE(
    "tiles of unsealed, half sealed, sealed and reopened sessions equal a look at all events") {
  base::FakeClock clock;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Pair pair(clock);
    Workload workload(pair, seed);
    workload.Send(1, 40);
    workload.CompareSome(20);
    pair.rocks().SealAll();  // while it is written: a part
    workload.CompareSome(20);
    workload.Send(1, 30);
    workload.Send(2, 30);  // a restarted writer, with ids of its own
    workload.CompareSome(20);
    workload.End(2);
    CHECK(pair.rocks().SealAll() > 1);
    workload.CompareSome(40);
    pair.rocks().Reopen();
    workload.Send(3, 10);
    workload.CompareSome(10);
    workload.End(3);
    pair.rocks().SealAll();
    workload.CompareSome(40);
  }
}

TEST_CASE("equal names of two epochs are one name in tiles") {
  base::FakeClock clock;
  Pair pair(clock);
  for (uint64_t epoch = 1; epoch <= 2; ++epoch) {
    Writer writer(kSession, epoch);
    if (epoch == 2) writer.Kernel("other");  // so that ids differ
    const auto lane = writer.Stream(1);
    const auto base = static_cast<int64_t>(epoch) * 100;
    const auto block = writer.Block(
        lane, {{.op = writer.Kernel("same"), .start_ns = base, .duration_ns = 30},
               {.op = writer.Kernel("big"), .start_ns = base + 30, .duration_ns = 50}});
    v1::AppendRequest request = writer.Request({block});
    request.mutable_session()->set_ended(true);
    pair.Send(writer, request);
  }
  pair.rocks().SealAll();
  pair.Compare(0, 400, 1);
  v1::GetTilesRequest request;
  request.set_session_id(kSession);
  request.mutable_window()->set_end_ns(400);
  request.set_columns(1);
  const auto tiles = pair.rocks().store().GetTiles(request, [] { return false; });
  REQUIRE(tiles.ok());
  const auto& spans = tiles->lanes(0).spans();
  CHECK(tiles->names(static_cast<int>(spans.dominant_name(0)) - 1) == "big");
  CHECK(spans.starts(0) == 4);
  CHECK(spans.covered_ns(0) == 160);
}

CONTRACT("bad requests for tiles are refused, lanes that are not there left out") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const auto block = writer.Block(writer.Stream(1), {{.op = writer.Kernel("k"), .start_ns = 1}});
  REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
  const auto never = [] { return false; };
  v1::GetTilesRequest request;
  request.set_session_id(kSession);
  request.set_columns(10);
  CHECK(subject->store().GetTiles(request, never).status().code() ==
        absl::StatusCode::kInvalidArgument);
  request.mutable_window()->set_end_ns(10);
  CHECK(subject->store().GetTiles(request, never)->lanes_size() == 1);
  request.add_lane_ids(9);
  CHECK(subject->store().GetTiles(request, never)->lanes_size() == 0);
  request.set_columns(0);
  CHECK(subject->store().GetTiles(request, never).status().code() ==
        absl::StatusCode::kInvalidArgument);
  request.set_columns(300'000);
  CHECK(subject->store().GetTiles(request, never).status().code() ==
        absl::StatusCode::kInvalidArgument);
  request.set_columns(1);
  request.set_session_id(kOther);
  CHECK(subject->store().GetTiles(request, never).status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE(
    "labels of a session that was deleted are not those of one of the same id written later") {
  // A question that began before the deletion may bring them back after it.
  OpLabels labels;
  const auto named = [](const std::string& name) {
    return [name]() -> absl::StatusOr<EpochLabels> {
      return EpochLabels{.ops = {{}, {.name = 0}}, .names = {name}};
    };
  };
  labels.Forget(kSession);
  const EpochOfSession old = {.session_id = kSession, .created_unix_ns = 1, .epoch = 1};
  CHECK((*labels.Of(old, 1, named("old")))->names.front() == "old");
  const EpochOfSession anew = {.session_id = kSession, .created_unix_ns = 2, .epoch = 1};
  CHECK((*labels.Of(anew, 1, named("new")))->names.front() == "new");
  CHECK((*labels.Of(anew, 1, named("loaded again")))->names.front() == "new");
}

}  // namespace
}  // namespace nanolane::store
