// What every store must do with appends and reads; store_seal_test.cc has the rest.
#include <algorithm>
#include <filesystem>
#include <random>

#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

CONTRACT("what was appended is read back, byte for byte, also after a restart") {
  base::FakeClock clock(1'000);
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId gemm = writer.Kernel("gemm");
  const std::string block = writer.Block(lane, {{.op = gemm, .start_ns = 10, .duration_ns = 5},
                                                {.op = gemm, .start_ns = 20, .duration_ns = 5}});
  REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
  for (int round = 0; round < 2; ++round) {
    const auto blocks = Read(subject->store(), All());
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].data() == block);
    CHECK(blocks[0].events() == 2);
    CHECK(blocks[0].start_ns() == 10);
    CHECK(blocks[0].end_ns() == 25);
    CHECK(blocks[0].epoch() == 1);
    const auto session = subject->store().GetSession(kSession);
    REQUIRE(session.ok());
    CHECK(session->summary().events() == 2);
    CHECK(session->summary().start_ns() == 10);
    CHECK(session->summary().end_ns() == 25);
    CHECK(session->summary().stored_bytes() == block.size());
    CHECK(session->summary().by_kind(0).count() == 2);
    CHECK(session->summary().created_unix_ns() == 1'000);
    CHECK(ReadWholeDictionary(subject->store()).OpName(gemm) == "gemm");
    if (!subject->Reopen()) break;
  }
}

CONTRACT("a sequence that is sent twice is stored once, also after a restart") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  const auto first = writer.Request({writer.Block(lane, {{.op = op, .start_ns = 1}})});
  const auto second = writer.Request({writer.Block(lane, {{.op = op, .start_ns = 2}})});
  REQUIRE(writer.Send(subject->store(), first).ok());
  REQUIRE(writer.Send(subject->store(), second).ok());
  subject->Reopen();
  REQUIRE(writer.Send(subject->store(), first).ok());
  CHECK(writer.last_acknowledged() == 2);
  REQUIRE(writer.Send(subject->store(), second).ok());
  CHECK(Read(subject->store(), All()).size() == 2);
  CHECK(subject->store().GetSession(kSession)->summary().events() == 2);
}

CONTRACT("a gap in the sequences is refused and leaves nothing behind") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  writer.Skip();
  const auto request = writer.Request({writer.Block(lane, {{.op = op, .start_ns = 1}})});
  CHECK(writer.Send(subject->store(), request).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Read(subject->store(), All()).empty());
  CHECK(subject->store().ListLanes(kSession)->lanes_size() == 1);  // of the first request
}

CONTRACT("a block that needs dictionary entries which were not sent is refused") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  writer.Kernel("k");
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  SECTION("an op") {
    const std::string block = writer.Block(lane, {{.op = 2, .start_ns = 1}});
    CHECK(writer.Send(subject->store(), writer.Request({block})).code() ==
          absl::StatusCode::kFailedPrecondition);
  }
  SECTION("a stack") {
    const std::string block = writer.Block(lane, {{.op = 1, .start_ns = 1, .stack = 1}});
    CHECK(writer.Send(subject->store(), writer.Request({block})).code() ==
          absl::StatusCode::kFailedPrecondition);
  }
  SECTION("a lane") {
    const std::string block = writer.Block(lane + 1, {{.op = 1, .start_ns = 1}});
    CHECK(writer.Send(subject->store(), writer.Request({block})).code() ==
          absl::StatusCode::kFailedPrecondition);
  }
  SECTION("an op of another epoch") {
    Writer restarted(kSession, 2);
    v1::AppendRequest request = restarted.Request({restarted.Block(1, {{.op = 1, .start_ns = 1}})});
    CHECK(restarted.Send(subject->store(), request).code() ==
          absl::StatusCode::kFailedPrecondition);
  }
  CHECK(Read(subject->store(), All()).empty());
}

CONTRACT("malformed blocks and dictionaries are refused, a session that began so does not exist") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  writer.Stream(7);
  v1::AppendRequest request = writer.Request({"not a block"});
  SECTION("a block") {}
  SECTION("a dictionary") {
    request.clear_blocks();
    request.mutable_dictionary()->set_first_string(9);
    request.mutable_dictionary()->add_strings("x");
  }
  CHECK(writer.Send(subject->store(), request).code() == absl::StatusCode::kInvalidArgument);
  CHECK(subject->store().GetSession(kSession).status().code() == absl::StatusCode::kNotFound);
}

CONTRACT("one bad append in a commit does not harm the others") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer good(kSession);
  Writer bad(kOther);
  const auto good_request =
      good.Request({good.Block(good.Stream(7), {{.op = good.Kernel("k"), .start_ns = 1}})});
  const auto fixed = good.Request({good.Block(1, {{.op = 1, .start_ns = 5}})});
  const auto bad_request = bad.Request({"junk"});
  std::vector<AppendItem> items(3);
  items[0] = {.session_id = kSession,
              .epoch = 1,
              .request = &good_request,
              .status = {},
              .acknowledged_sequence = 0};
  items[1] = {.session_id = kOther,
              .epoch = 1,
              .request = &bad_request,
              .status = {},
              .acknowledged_sequence = 0};
  items[2] = {.session_id = kSession,
              .epoch = 1,
              .request = &fixed,
              .status = {},
              .acknowledged_sequence = 0};
  // The second block needs the dictionary of the first request, in the same commit.
  subject->store().Commit(items);
  CHECK(items[0].status.ok());
  CHECK_FALSE(items[1].status.ok());
  CHECK(items[2].status.ok());
  CHECK(items[2].acknowledged_sequence == 2);
  CHECK(Read(subject->store(), All()).size() == 2);
}

CONTRACT("two epochs share lanes by what they are, not by the writers' ids") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer first(kSession, 1);
  Writer second(kSession, 2);
  const auto a = first.Block(first.Stream(7), {{.op = first.Kernel("k"), .start_ns = 1}});
  second.Stream(14);
  const auto b = second.Block(second.Stream(7), {{.op = second.Kernel("k"), .start_ns = 2}});
  REQUIRE(first.Send(subject->store(), first.Request({a})).ok());
  REQUIRE(second.Send(subject->store(), second.Request({b})).ok());
  subject->Reopen();
  const auto lanes = subject->store().ListLanes(kSession);
  REQUIRE(lanes->lanes_size() == 2);
  CHECK(lanes->lanes(0).lane().stream() == 7);
  CHECK(lanes->lanes(0).events() == 2);
  CHECK(lanes->lanes(1).events() == 0);
  const auto blocks = Read(subject->store(), All());
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].lane_id() == blocks[1].lane_id());
  CHECK(blocks[0].epoch() == 1);
  CHECK(blocks[1].epoch() == 2);
  const auto session = subject->store().GetSession(kSession);
  CHECK(session->epochs_size() == 2);
}

CONTRACT("windows and lanes select what a naive scan selects, in order of time") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  std::mt19937 random(4);
  const std::vector<trace::LaneId> lanes = {writer.Stream(1), writer.Stream(2), writer.Stream(3)};
  const trace::OpId op = writer.Kernel("k");
  struct Extent {
    uint32_t lane;
    int64_t start, end;
  };
  std::vector<Extent> all;
  for (int i = 0; i < 120; ++i) {
    const auto start = static_cast<int64_t>(random() % 1'000) - 500;
    const auto duration = static_cast<int64_t>(random() % 4 == 0 ? 0 : random() % 100);
    const size_t lane = random() % 3;
    const auto block =
        writer.Block(lanes[lane], {{.op = op, .start_ns = start, .duration_ns = duration}});
    REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
    all.push_back({static_cast<uint32_t>(lane + 1), start, start + duration});
  }
  for (int i = 0; i < 60; ++i) {
    v1::ReadBlocksRequest request = All();
    const auto from = static_cast<int64_t>(random() % 1'000) - 500;
    request.mutable_window()->set_start_ns(from);
    request.mutable_window()->set_end_ns(from + static_cast<int64_t>(random() % 200));
    if (random() % 2 == 0) request.add_lane_ids(1 + static_cast<uint32_t>(random() % 3));
    const auto blocks = Read(subject->store(), request);
    const auto wanted = std::count_if(all.begin(), all.end(), [&](const Extent& extent) {
      return (request.lane_ids().empty() || request.lane_ids(0) == extent.lane) &&
             extent.start < request.window().end_ns() && extent.end >= request.window().start_ns();
    });
    CHECK(static_cast<std::ptrdiff_t>(blocks.size()) == wanted);
    CHECK(std::is_sorted(blocks.begin(), blocks.end(),
                         [](const auto& a, const auto& b) { return a.start_ns() < b.start_ns(); }));
  }
}

CONTRACT("a read can be ended early, and one without data brings only the index") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(1);
  const trace::OpId op = writer.Kernel("k");
  for (int i = 0; i < 5; ++i) {
    REQUIRE(writer
                .Send(subject->store(),
                      writer.Request({writer.Block(lane, {{.op = op, .start_ns = i}})}))
                .ok());
  }
  int seen = 0;
  REQUIRE(
      subject->store().ReadBlocks(All(), [&](const v1::StoredBlock&) { return ++seen < 2; }).ok());
  CHECK(seen == 2);
  v1::ReadBlocksRequest index = All();
  index.set_with_data(false);
  const auto blocks = Read(subject->store(), index);
  REQUIRE(blocks.size() == 5);
  CHECK(blocks[0].data().empty());
  CHECK(blocks[0].data_size() > 0);
}

CONTRACT("any range of a dictionary comes back, however it was cut into appends") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  std::mt19937 random(9);
  trace::DictionaryBuilder& builder = writer.dictionary();
  for (int round = 0; round < 20; ++round) {
    const size_t news = random() % 4;
    for (size_t i = 0; i < news; ++i) {
      const auto name = builder.Intern("s" + std::to_string(round) + "." + std::to_string(i));
      const auto frame = builder.Intern(trace::Frame{.module = name, .offset = i});
      builder.SetSymbol(frame, {.function = name, .line = static_cast<uint32_t>(round)});
      builder.Intern(trace::StackNode{
          .parent = static_cast<trace::StackId>(random() % (builder.tables().stack_count() + 1)),
          .frame = frame});
      builder.Intern(trace::Op{.kind = trace::EventKind::kKernel, .name = name});
    }
    REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  }
  const trace::Dictionary& written = builder.tables();
  CHECK(ReadWholeDictionary(subject->store()).sizes() == written.sizes());
  for (int i = 0; i < 50; ++i) {
    const auto count = static_cast<uint32_t>(written.string_count());
    const uint32_t first = 1 + static_cast<uint32_t>(random() % count);
    const uint32_t last = first + static_cast<uint32_t>(random() % (count - first + 1));
    std::vector<std::string> got;
    uint32_t next = first;
    const DictionaryRange range = {
        .epoch = 1, .have = {.strings = first - 1}, .need = {.strings = last}};
    const auto take = [&](const DictionaryDelta& delta) {
      if (delta.strings_size() > 0) CHECK(delta.first_string() == next);
      for (const auto& text : delta.strings()) got.push_back(text);
      next += static_cast<uint32_t>(delta.strings_size());
      CHECK(delta.frames_size() + delta.stacks_size() + delta.ops_size() + delta.symbols_size() ==
            0);
      return true;
    };
    REQUIRE(subject->store().ReadDictionary(kSession, range, take).ok());
    REQUIRE(got.size() == last - first + 1);
    CHECK(got.front() == written.String(first));
    CHECK(got.back() == written.String(last));
  }
}

CONTRACT("dictionary entries that are sent again stay as they were") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  for (const char* name : {"a", "b", "c"}) writer.dictionary().Intern(name);
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  v1::AppendRequest again = writer.Request({});
  again.mutable_dictionary()->set_first_string(1);
  for (const char* name : {"x", "y"}) again.mutable_dictionary()->add_strings(name);
  REQUIRE(writer.Send(subject->store(), again).ok());
  const trace::Dictionary dictionary = ReadWholeDictionary(subject->store());
  CHECK(dictionary.String(1) == "a");
  CHECK(dictionary.String(3) == "c");
}

CONTRACT("later messages change what is known of a session, not its project") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  v1::AppendRequest update;
  *update.mutable_session() = SessionNamed(kSession);
  update.mutable_session()->clear_project();
  update.mutable_session()->set_ended(true);
  update.mutable_session()->add_losses()->set_count(3);
  REQUIRE(writer.Send(subject->store(), update).ok());
  subject->Reopen();
  const auto session = subject->store().GetSession(kSession);
  CHECK(session->summary().session().ended());
  CHECK(session->summary().session().losses(0).count() == 3);
  CHECK(session->summary().session().project() == "search");
}

CONTRACT("a message without a sequence cannot carry what would be counted again") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  REQUIRE(writer.Send(subject->store(), writer.Request({})).ok());
  v1::AppendRequest counts;
  counts.add_losses()->set_count(5);
  CHECK(writer.Send(subject->store(), counts).code() == absl::StatusCode::kInvalidArgument);
}

CONTRACT("sessions are listed newest first, in pages, by project and host") {
  base::FakeClock clock(100);
  const auto subject = TestType::Make(clock);
  for (int i = 0; i < 7; ++i) {
    Writer writer("0000000000000000000000000000000" + std::to_string(i));
    v1::AppendRequest request = writer.Request({});
    request.mutable_session()->set_project(i % 2 == 0 ? "even" : "odd");
    REQUIRE(writer.Send(subject->store(), request).ok());
    if (i != 3) clock.Advance(10);  // two of one time
  }
  std::vector<std::string> ids;
  v1::ListSessionsRequest request;
  request.set_page_size(3);
  do {
    const auto page = subject->store().ListSessions(request);
    REQUIRE(page.ok());
    for (const auto& summary : page->sessions()) ids.push_back(summary.session().session_id());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  REQUIRE(ids.size() == 7);
  CHECK(ids.front().back() == '6');
  CHECK(ids.back().back() == '0');
  CHECK(ids[2].back() == '3');  // equal times: by id
  CHECK(ids[3].back() == '4');
  v1::ListSessionsRequest odd;
  odd.set_project("odd");
  CHECK(subject->store().ListSessions(odd)->sessions_size() == 3);
  odd.set_host("elsewhere");
  CHECK(subject->store().ListSessions(odd)->sessions_size() == 0);
  v1::ListSessionsRequest bad;
  bad.set_page_token("?");
  CHECK(subject->store().ListSessions(bad).status().code() == absl::StatusCode::kInvalidArgument);
}

CONTRACT("a deleted session is gone, others stay, and it can be written anew") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer doomed(kSession);
  Writer other(kOther);
  const auto write = [&](Writer& writer) {
    const auto block = writer.Block(writer.Stream(7), {{.op = writer.Kernel("k"), .start_ns = 1}});
    REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
  };
  write(doomed);
  write(other);
  REQUIRE(subject->store().Delete(kSession).ok());
  REQUIRE(subject->store().Delete(kSession).ok());
  subject->Reopen();
  CHECK(subject->store().GetSession(kSession).status().code() == absl::StatusCode::kNotFound);
  CHECK(subject->store().ReadBlocks(All(), [](const auto&) { return true; }).code() ==
        absl::StatusCode::kNotFound);
  CHECK(Read(subject->store(), All(kOther)).size() == 1);
  CHECK(subject->store().ListSessions({})->sessions_size() == 1);
  Writer again(kSession);
  write(again);
  CHECK(subject->store().GetSession(kSession)->summary().events() == 1);
  CHECK(Read(subject->store(), All()).size() == 1);
}

CONTRACT("what is not there is not found") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  CHECK(subject->store().GetSession(kSession).status().code() == absl::StatusCode::kNotFound);
  CHECK(subject->store().ListLanes(kSession).status().code() == absl::StatusCode::kNotFound);
  CHECK(subject->store().ReadDictionary(kSession, {}, [](const auto&) { return true; }).code() ==
        absl::StatusCode::kNotFound);
  CHECK(subject->store().ListSessions({})->sessions_size() == 0);
  CHECK_FALSE(CheckSessionId("xyz").ok());
  CHECK_FALSE(CheckSessionId("00112233445566778899AABBCCDDEEFF").ok());
}

TEST_CASE("a folder that another store has open is refused with what to do") {
  base::FakeClock clock;
  RocksSubject subject(clock);
  const auto second = RocksStore::Open({.path = subject.path()}, clock);
  CHECK(second.status().code() == absl::StatusCode::kFailedPrecondition);
}

uintmax_t DataBytes(const std::string& folder) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool is_data = entry.path().extension() == ".sst" || entry.path().extension() == ".blob";
    if (is_data) bytes += entry.file_size();
  }
  return bytes;
}

// Events that do not compress, so that space shows.
void WriteNoise(Writer& writer, Store& store, int blocks) {
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  std::mt19937_64 random(2);
  for (int i = 0; i < blocks; ++i) {
    std::vector<Event> events;
    for (int j = 0; j < 4'000; ++j) {
      events.push_back(
          {.op = op, .start_ns = static_cast<int64_t>(random()), .correlation = random()});
    }
    REQUIRE(writer.Send(store, writer.Request({writer.Block(lane, events)})).ok());
  }
}

TEST_CASE("sealed blocks give the space of the raw ones back once nobody follows them") {
  base::FakeClock clock;
  const SubjectOptions options = {
      .seal = {.keep_log_ns = 1'000}, .max_bytes = 0, .reclaim_bytes = 1};
  RocksSubject subject(clock, options);
  Writer writer;
  WriteNoise(writer, subject.store(), 40);
  REQUIRE(writer.End(subject.store()).ok());
  REQUIRE(subject.SealAll() > 0);
  subject.Reopen();  // flushes
  const uintmax_t both = DataBytes(subject.path());
  const uintmax_t raw = subject.store().GetSession(kSession)->summary().stored_bytes();
  clock.Advance(5'000);
  REQUIRE(*subject.store().TrimLog(kSession) == LogLeft::kNothing);
  subject.store().ReclaimTrimmed();
  subject.Reopen();
  CHECK(DataBytes(subject.path()) < both - raw * 8 / 10);
}

TEST_CASE("deleting a session gives its space back") {
  base::FakeClock clock;
  RocksSubject subject(clock);
  Writer writer;
  WriteNoise(writer, subject.store(), 40);
  subject.Reopen();  // flushes
  const uintmax_t before = DataBytes(subject.path());
  REQUIRE(before > 2'000'000);
  REQUIRE(subject.store().Delete(kSession).ok());
  subject.store().Reclaim(kSession);
  subject.Reopen();
  CHECK(DataBytes(subject.path()) < before / 10);
}

TEST_CASE("deleting a sealed session gives its space back at once, and leaves the others") {
  base::FakeClock clock;
  const SubjectOptions options = {.seal = {.keep_log_ns = 1'000}};
  RocksSubject subject(clock, options);
  Writer doomed(kSession);
  Writer other(kOther);
  for (Writer* writer : {&doomed, &other}) {
    WriteNoise(*writer, subject.store(), writer == &doomed ? 40 : 2);
    REQUIRE(writer->End(subject.store()).ok());
    REQUIRE(subject.SealAll(writer == &doomed ? kSession : kOther) > 0);
  }
  subject.Reopen();  // flushes
  const uintmax_t before = DataBytes(subject.path());
  REQUIRE(subject.store().Delete(kSession).ok());
  subject.store().Reclaim(kSession);
  CHECK(DataBytes(subject.path()) < before / 4);
  CHECK_FALSE(Read(subject.store(), All(kOther)).empty());
  CHECK(subject.store().StoredBytes() ==
        StoredBytesOf(subject.store().GetSession(kOther)->summary()));
}

}  // namespace
}  // namespace nanolane::store
