// What every store must do for those who follow: everything once, in order, from any cursor.
#include <map>
#include <random>
#include <set>

#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

// What a follower holds of a session.
struct Copy {
  uint64_t cursor = 0;
  int restarts = 0;
  std::map<uint64_t, trace::Dictionary> dictionaries;
  std::map<uint32_t, v1::StoredLane> lanes;
  std::multiset<std::string> blocks;
  SessionSummary summary;
  uint64_t events = 0;
  bool caught_up = false;

  void Take(const v1::FollowResponse& message) {
    if (message.restart()) {
      const int count = restarts + 1;
      *this = Copy();
      restarts = count;
    }
    if (message.cursor() > 0) {
      CHECK(message.cursor() >= cursor);
      cursor = message.cursor();
    }
    if (message.has_summary()) summary = message.summary();
    for (const v1::StoredLane& lane : message.lanes()) lanes[lane.lane_id()] = lane;
    for (const v1::EpochDictionary& dictionary : message.dictionaries()) {
      REQUIRE(dictionaries[dictionary.epoch()].Apply(trace::FromProto(dictionary.delta())).ok());
    }
    for (const v1::StoredBlock& block : message.blocks()) {
      const auto header = trace::ReadBlockHeader(block.data());
      REQUIRE(header.ok());
      // Whatever a block needs has come before it.
      CHECK(dictionaries[block.epoch()].sizes().Cover(
          {.strings = header->needs.strings, .ops = header->needs.ops}));
      CHECK(lanes.contains(block.lane_id()));
      blocks.insert(block.data());
      events += block.events();
    }
    caught_up = message.caught_up();
  }
};

// Reads until there is nothing new.
void CatchUp(FollowReader& reader, Copy& copy) {
  v1::FollowResponse message;
  while (true) {
    const auto more = reader.Next(message);
    REQUIRE(more.ok());
    if (!*more) return;
    copy.Take(message);
  }
}

std::unique_ptr<FollowReader> FollowFrom(Store& store, uint64_t cursor) {
  v1::FollowRequest request;
  request.set_session_id(kSession);
  request.set_cursor(cursor);
  auto reader = store.Follow(request);
  REQUIRE(reader.ok());
  return *std::move(reader);
}

void SendOne(Writer& writer, Store& store, int64_t start_ns, const std::string& name = "k") {
  const auto block =
      writer.Block(writer.Stream(7), {{.op = writer.Kernel(name), .start_ns = start_ns}});
  REQUIRE(writer.Send(store, writer.Request({block})).ok());
}

void CheckSame(Store& store, const Copy& copy) {
  CHECK(copy.caught_up);
  std::multiset<std::string> blocks;
  for (const auto& block : Read(store, All())) blocks.insert(block.data());
  CHECK(copy.blocks == blocks);
  CHECK(copy.summary.events() == store.GetSession(kSession)->summary().events());
}

CONTRACT("a follower gets what is there, then what comes, and nothing twice") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  for (int i = 0; i < 5; ++i) SendOne(writer, subject->store(), i, "k" + std::to_string(i));
  const auto reader = FollowFrom(subject->store(), 0);
  Copy copy;
  CatchUp(*reader, copy);
  CheckSame(subject->store(), copy);
  CHECK(copy.restarts == 1);
  for (int i = 5; i < 9; ++i) {
    SendOne(writer, subject->store(), i, "late" + std::to_string(i));
    CatchUp(*reader, copy);
    CheckSame(subject->store(), copy);
  }
  CHECK(copy.restarts == 1);
  CHECK(copy.dictionaries[1].OpName(9) == "late8");
  CHECK(copy.lanes.at(1).events() == 9);
}

CONTRACT("a follower resumes from its cursor, also after a restart of the store") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  Copy copy;
  for (int i = 0; i < 12; ++i) {
    SendOne(writer, subject->store(), i, "k" + std::to_string(i));
    if (i % 3 == 1) subject->Reopen();
    const auto reader = FollowFrom(subject->store(), copy.cursor);
    CatchUp(*reader, copy);
    CheckSame(subject->store(), copy);
  }
  CHECK(copy.restarts == 1);
}

CONTRACT("a follower that has everything is told so") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  SendOne(writer, subject->store(), 1);
  Copy copy;
  CatchUp(*FollowFrom(subject->store(), 0), copy);
  v1::FollowResponse message;
  const auto reader = FollowFrom(subject->store(), copy.cursor);
  REQUIRE(*reader->Next(message));
  CHECK(message.caught_up());
  CHECK_FALSE(message.restart());
  CHECK(message.blocks_size() == 0);
  CHECK_FALSE(*reader->Next(message));
}

CONTRACT("sealing changes nothing for who follows, and is told") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  Copy copy;
  SendOne(writer, subject->store(), 1);
  const auto reader = FollowFrom(subject->store(), 0);
  CatchUp(*reader, copy);
  SendOne(writer, subject->store(), 2);
  SendOne(writer, subject->store(), 3);
  REQUIRE(writer.End(subject->store()).ok());
  CHECK(subject->SealAll() == 1);
  CatchUp(*reader, copy);  // the appends as they came
  CHECK(copy.restarts == 1);
  CHECK(copy.events == 3);
  CHECK(copy.summary.session().ended());
  CHECK(copy.summary.unsealed_events() == 0);
  Copy anew;  // from the sealed state
  CatchUp(*FollowFrom(subject->store(), 0), anew);
  CheckSame(subject->store(), anew);
  CHECK(anew.events == 3);
}

CONTRACT("who has fallen behind what is kept gets the state anew, whole") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  Copy copy;
  SendOne(writer, subject->store(), 1);
  CatchUp(*FollowFrom(subject->store(), 0), copy);
  SendOne(writer, subject->store(), 2);
  REQUIRE(writer.End(subject->store()).ok());
  subject->SealAll();
  CHECK(*subject->store().TrimLog(kSession) == LogLeft::kYoung);  // too young to be forgotten
  clock.Advance(2'000);
  CHECK(*subject->store().TrimLog(kSession) == LogLeft::kNothing);
  subject->Reopen();
  CatchUp(*FollowFrom(subject->store(), copy.cursor), copy);
  CHECK(copy.restarts == 2);
  CHECK(copy.events == 2);
  CheckSame(subject->store(), copy);
}

TEST_CASE("a log longer than what is trimmed at once is trimmed in several pieces") {
  base::FakeClock clock;
  RocksSubject subject(clock);
  Writer writer;
  for (int i = 0; i < 5'000; ++i) REQUIRE(writer.Send(subject.store(), writer.Request({})).ok());
  clock.Advance(5'000);
  CHECK(*subject.store().TrimLog(kSession) == LogLeft::kOld);
  CHECK(*subject.store().TrimLog(kSession) == LogLeft::kNothing);
}

CONTRACT("the log of what is not sealed is not forgotten") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  Copy copy;
  SendOne(writer, subject->store(), 1);
  CatchUp(*FollowFrom(subject->store(), 0), copy);
  SendOne(writer, subject->store(), 2);
  clock.Advance(5'000);
  CHECK(*subject->store().TrimLog(kSession) == LogLeft::kYoung);
  CatchUp(*FollowFrom(subject->store(), copy.cursor), copy);
  CHECK(copy.restarts == 1);
  CheckSame(subject->store(), copy);
}

CONTRACT("symbols that come late reach followers") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  trace::DictionaryBuilder& dictionary = writer.dictionary();
  const auto frame =
      dictionary.Intern(trace::Frame{.module = dictionary.Intern("lib"), .offset = 1});
  SendOne(writer, subject->store(), 1);
  const auto reader = FollowFrom(subject->store(), 0);
  Copy copy;
  CatchUp(*reader, copy);
  const auto name = dictionary.Intern("resolved");
  dictionary.SetSymbol(frame, {.function = name});
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  CatchUp(*reader, copy);
  CHECK(copy.dictionaries[1].String(copy.dictionaries[1].SymbolOf(frame).function) == "resolved");
}

CONTRACT("losses, the end and new lanes are followed") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  SendOne(writer, subject->store(), 1);
  const auto reader = FollowFrom(subject->store(), 0);
  Copy copy;
  CatchUp(*reader, copy);
  writer.Stream(8);
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  v1::AppendRequest update;
  *update.mutable_session() = SessionNamed(kSession);
  update.mutable_session()->add_losses()->set_count(3);
  REQUIRE(writer.Send(subject->store(), update).ok());
  CatchUp(*reader, copy);
  CHECK(copy.lanes.size() == 2);
  CHECK(copy.summary.session().losses(0).count() == 3);
}

CONTRACT("following a session that is not there, or is deleted meanwhile, is not found") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  v1::FollowRequest request;
  request.set_session_id(kOther);
  CHECK(subject->store().Follow(request).status().code() == absl::StatusCode::kNotFound);
  Writer writer;
  SendOne(writer, subject->store(), 1);
  const auto reader = FollowFrom(subject->store(), 0);
  Copy copy;
  CatchUp(*reader, copy);
  REQUIRE(subject->store().Delete(kSession).ok());
  v1::FollowResponse message;
  CHECK(reader->Next(message).status().code() == absl::StatusCode::kNotFound);
}

CONTRACT(
    "a follower of a session that was deleted and written anew gets it anew, from any cursor") {
  base::FakeClock clock(1'000);
  const auto subject = TestType::Make(clock);
  Writer old;
  for (int i = 0; i < 3; ++i) SendOne(old, subject->store(), i, "old");
  const auto connected = FollowFrom(subject->store(), 0);
  Copy copy;
  CatchUp(*connected, copy);
  const uint64_t cursor = copy.cursor;
  REQUIRE(subject->store().Delete(kSession).ok());
  clock.Advance(1'000'000'000);
  // Fewer commits than the old one had, as many, and more.
  Writer anew;
  for (int i = 0; i < 5; ++i) {
    SendOne(anew, subject->store(), 100 + i, "new");
    Copy resumed;
    CatchUp(*FollowFrom(subject->store(), cursor), resumed);
    CHECK(resumed.restarts == 1);
    CheckSame(subject->store(), resumed);
  }
  CatchUp(*connected, copy);
  CHECK(copy.restarts == 2);
  CheckSame(subject->store(), copy);
}

}  // namespace
}  // namespace nanolane::store
