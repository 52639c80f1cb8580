// The query service over gRPC, in front of a real store, against naive answers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "libs/ingest/session_writer.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"
#include "tests/support/running_services.h"

namespace nanolane::testing {
namespace {

namespace query_v1 = nanolane::query::v1;
using trace::Event;

constexpr const char* kSession = "00112233445566778899aabbccddeeff";
constexpr const char* kOther = "0f112233445566778899aabbccddeeff";

nanolane::trace::v1::Session SessionNamed(const std::string& id) {
  nanolane::trace::v1::Session session;
  session.set_session_id(id);
  session.set_project("search");
  session.set_host("gpu-07");
  session.set_pid(4'121);
  session.set_executable("/usr/bin/python3");
  (*session.mutable_labels())["job"] = "nightly";
  return session;
}

struct Written {
  std::map<trace::LaneId, std::vector<Event>> events;
  std::map<trace::OpId, std::string> names;
};

// Random events on three lanes, in small blocks so that there are many.
Written WriteSession(RunningServices& services, const std::string& id, uint32_t seed, int events,
                     size_t block_events = 64) {
  ingest::StoreSinkFactory sinks(services.channel(),
                                 {.block_events = block_events, .append_bytes = 4'096});
  auto sink = sinks.Open(SessionNamed(id));
  REQUIRE(sink.ok());
  trace::DictionaryBuilder& dictionary = (*sink)->dictionary();
  std::mt19937 random(seed);
  Written written;
  std::vector<trace::LaneId> lanes;
  for (const int64_t stream : {7, 14}) {
    lanes.push_back(dictionary.Intern(trace::Lane{
        .kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = stream}));
  }
  lanes.push_back(
      dictionary.Intern(trace::Lane{.kind = trace::LaneKind::kNoStreamSync, .gpu_index = 0}));
  std::vector<int64_t> clock(lanes.size(), 1'000'000);
  for (int i = 0; i < events; ++i) {
    // New names turn up all along, so that the dictionary comes in pieces.
    const std::string name =
        "kernel_" + std::to_string(random() % (10 + static_cast<uint32_t>(i) / 20));
    const trace::OpId op = dictionary.Intern(
        trace::Op{.kind = trace::EventKind::kKernel, .name = dictionary.Intern(name)});
    const trace::FrameId frame =
        dictionary.Intern(trace::Frame{.module = dictionary.Intern(name + ".py")});
    dictionary.SetSymbol(frame, {.function = dictionary.Intern(name + "()")});
    const trace::StackId stack = dictionary.Intern(trace::StackNode{.parent = 0, .frame = frame});
    const size_t lane = random() % lanes.size();
    clock[lane] += static_cast<int64_t>(random() % 300);
    const Event event = {
        .op = op,
        .start_ns = clock[lane],
        .duration_ns = random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % 400),
        .launch_start_ns = clock[lane] - 50,
        .stack = stack,
        .correlation = static_cast<uint64_t>(i)};
    REQUIRE((*sink)->Add(lanes[lane], event).ok());
    written.events[lanes[lane]].push_back(event);
    written.names[op] = name;
  }
  REQUIRE((*sink)->Finish(SessionNamed(id)).ok());
  return written;
}

// What a client makes of a timeline stream, with the promises of the proto checked on the way.
struct Received {
  absl::Status status;
  uint64_t expected = 0;
  bool ended = false;
  int chunks = 0;
  std::map<std::pair<std::string, uint32_t>, std::vector<Event>> events;  // by session and lane
  std::map<std::string, trace::Dictionary> names;                         // of epoch 1
};

Received ReadTimeline(RunningServices& services, const query_v1::StreamTimelineRequest& request) {
  Received received;
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));  // a stream that hangs fails
  const auto stream = services.query().StreamTimeline(&context, request);
  query_v1::StreamTimelineResponse message;
  std::vector<std::string> sessions;
  uint64_t sent = 0;
  bool first = true;
  while (stream->Read(&message)) {
    CHECK(message.has_header() == first);
    CHECK_FALSE(received.ended);
    first = false;
    if (message.has_header()) {
      CHECK(message.expected_events() == message.header().expected_events());
      for (const auto& summary : message.header().sessions())
        sessions.push_back(summary.session().session_id());
    } else if (message.has_dictionary()) {
      const auto& chunk = message.dictionary();
      REQUIRE(received.names[sessions[chunk.session_index()]]
                  .Apply(trace::FromProto(chunk.delta()))
                  .ok());
    } else if (message.has_blocks()) {
      ++received.chunks;
      const std::string& session = sessions[message.blocks().session_index()];
      for (const query_v1::Block& block : message.blocks().blocks()) {
        const auto header = trace::ReadBlockHeader(block.data());
        REQUIRE(header.ok());
        CHECK(received.names[session].sizes().Cover(header->needs));  // entries come before
        trace::EventColumns columns;
        REQUIRE(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns).ok());
        auto& events = received.events[{session, block.lane_id()}];
        for (size_t i = 0; i < columns.size(); ++i) events.push_back(columns.At(i));
        sent += columns.size();
      }
      CHECK(message.sent_events() == sent);
    }
    received.expected = message.expected_events();
    received.ended = message.has_end();
  }
  received.status = rpc::FromGrpc(stream->Finish());
  return received;
}

query_v1::StreamTimelineRequest TimelineOf(const std::string& session) {
  query_v1::StreamTimelineRequest request;
  request.mutable_scope()->add_session_ids(session);
  request.set_max_block_version(trace::kBlockVersion);
  return request;
}

TEST_CASE("a timeline brings every event once, after the names it needs, with true counts") {
  RunningServices services;
  const Written written = WriteSession(services, kSession, 1, 3'000);
  const Received received = ReadTimeline(services, TimelineOf(kSession));
  REQUIRE(received.status.ok());
  CHECK(received.ended);
  CHECK(received.expected == 3'000);
  CHECK(received.chunks > 1);
  CHECK(received.events.size() == 3);
  for (const auto& [lane, events] : written.events) {
    CHECK(received.events.at({kSession, lane}) == events);
  }
  for (const auto& [op, name] : written.names)
    CHECK(received.names.at(kSession).OpName(op) == name);
}

TEST_CASE("a window brings all events that overlap it, and blocks that do not are left out") {
  RunningServices services;
  const Written written = WriteSession(services, kSession, 2, 4'000);
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    query_v1::StreamTimelineRequest request = TimelineOf(kSession);
    const int64_t from = 1'000'000 + static_cast<int64_t>(random() % 200'000);
    request.mutable_window()->set_start_ns(from);
    request.mutable_window()->set_end_ns(from + static_cast<int64_t>(random() % 20'000) + 1);
    const Received received = ReadTimeline(services, request);
    REQUIRE(received.status.ok());
    size_t total = 0;
    for (const auto& [lane, events] : received.events) total += events.size();
    CHECK(total == received.expected);
    CHECK(total < 2'500);
    for (const auto& [lane, events] : written.events) {
      for (const Event& event : events) {
        const bool overlaps = event.start_ns < request.window().end_ns() &&
                              event.start_ns + event.duration_ns >= request.window().start_ns();
        if (!overlaps) continue;
        const auto found = received.events.find({kSession, lane});
        REQUIRE(found != received.events.end());
        CHECK(std::count(found->second.begin(), found->second.end(), event) == 1);
      }
    }
  }
}

TEST_CASE("a timeline can be of some lanes, and of several sessions") {
  RunningServices services;
  WriteSession(services, kSession, 4, 500);
  WriteSession(services, kOther, 5, 500);
  query_v1::StreamTimelineRequest some = TimelineOf(kSession);
  query_v1::LaneRef& lane = *some.add_lanes();
  lane.set_session_id(kSession);
  lane.set_lane_id(2);
  const Received one = ReadTimeline(services, some);
  REQUIRE(one.events.size() == 1);
  CHECK(one.events.begin()->first.second == 2);
  query_v1::StreamTimelineRequest both;
  both.mutable_scope()->set_project("search");
  both.set_max_block_version(1);
  const Received all = ReadTimeline(services, both);
  CHECK(all.expected == 1'000);
  CHECK(all.events.size() == 6);
}

TEST_CASE("a timeline of nothing says so") {
  RunningServices services;
  CHECK(ReadTimeline(services, TimelineOf(kSession)).status.code() == absl::StatusCode::kNotFound);
  CHECK(ReadTimeline(services, TimelineOf("nonsense")).status.code() ==
        absl::StatusCode::kInvalidArgument);
  WriteSession(services, kSession, 6, 10);
  query_v1::StreamTimelineRequest nothing = TimelineOf(kSession);
  nothing.mutable_window()->set_start_ns(5);
  nothing.mutable_window()->set_end_ns(6);
  const Received empty = ReadTimeline(services, nothing);
  CHECK(empty.status.ok());
  CHECK(empty.ended);
  CHECK(empty.expected == 0);
}

TEST_CASE("clients that cancel or read slowly do not keep others from their answers") {
  RunningServices services;
  WriteSession(services, kSession, 7, 60'000, 256);
  // Streams that nobody reads: back-pressure holds them, each on its own. As many as one would
  // expect a service to have threads, and more.
  constexpr int kIdle = 48;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<query_v1::StreamTimelineResponse>>> idle;
  for (int i = 0; i < kIdle; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    rpc::SetDeadline(*contexts.back(), std::chrono::seconds(60));
    idle.push_back(services.query().StreamTimeline(contexts.back().get(), TimelineOf(kSession)));
    query_v1::StreamTimelineResponse message;
    REQUIRE(idle.back()->Read(&message));
  }
  CHECK(ReadTimeline(services, TimelineOf(kSession)).expected == 60'000);
  for (size_t i = 0; i < idle.size(); ++i) {
    contexts[i]->TryCancel();
    CHECK(idle[i]->Finish().error_code() == grpc::StatusCode::CANCELLED);
  }
  CHECK(ReadTimeline(services, TimelineOf(kSession)).ended);
}

// Length of the union of spans clipped to a window, nanosecond ranges merged the plain way.
int64_t NaiveBusy(const std::vector<Event>& events, int64_t from, int64_t to) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const Event& event : events) {
    spans.emplace_back(std::max(event.start_ns, from),
                       std::min(event.start_ns + event.duration_ns, to));
  }
  std::sort(spans.begin(), spans.end());
  int64_t busy = 0;
  int64_t covered = from;
  for (const auto& [start, end] : spans) {
    if (end <= std::max(start, covered)) continue;
    busy += end - std::max(start, covered);
    covered = end;
  }
  return busy;
}

TEST_CASE("statistics equal a naive count, whole and in windows") {
  RunningServices services;
  const Written written = WriteSession(services, kSession, 8, 3'000);
  std::mt19937 random(9);
  for (int round = 0; round < 12; ++round) {
    query_v1::GetStatsRequest request;
    request.set_session_id(kSession);
    int64_t from = 0;
    int64_t to = INT64_MAX;
    if (round > 0) {
      from = 1'000'000 + static_cast<int64_t>(random() % 150'000);
      to = from + 1 + static_cast<int64_t>(random() % 60'000);
      request.mutable_window()->set_start_ns(from);
      request.mutable_window()->set_end_ns(to);
    }
    grpc::ClientContext context;
    query_v1::GetStatsResponse stats;
    REQUIRE(services.query().GetStats(&context, request, &stats).ok());
    std::map<std::string, std::vector<int64_t>> durations;
    for (const query_v1::LaneStats& lane : stats.lanes()) {
      std::vector<Event> inside;
      for (const Event& event : written.events.at(lane.lane().lane_id())) {
        const bool overlaps = event.start_ns < to &&
                              (event.start_ns >= from || event.start_ns + event.duration_ns > from);
        if (!overlaps) continue;
        inside.push_back(event);
        durations[written.names.at(event.op)].push_back(event.duration_ns);
      }
      CHECK(lane.events() == inside.size());
      CHECK(lane.busy_ns() == NaiveBusy(inside, from, to));
    }
    REQUIRE(static_cast<size_t>(stats.ops_size()) == durations.size());
    for (const query_v1::OpStats& op : stats.ops()) {
      std::vector<int64_t>& sorted = durations.at(op.name());
      std::sort(sorted.begin(), sorted.end());
      CHECK(op.count() == sorted.size());
      CHECK(op.min_ns() == sorted.front());
      CHECK(op.max_ns() == sorted.back());
      // Nearest rank: the smallest value that at least half (95 %) of the values do not exceed.
      const auto rank = [&](double share) {
        for (const int64_t value : sorted) {
          const auto reach = std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
          if (static_cast<double>(reach) >= share * static_cast<double>(sorted.size()) - 1e-9)
            return value;
        }
        return sorted.back();
      };
      CHECK(op.p50_ns() == rank(0.5));
      CHECK(op.p95_ns() == rank(0.95));
    }
  }
}

TEST_CASE("a search counts all matches and brings the first ones in order of time") {
  RunningServices services;
  const Written written = WriteSession(services, kSession, 10, 5'000);
  query_v1::SearchRequest request;
  request.mutable_scope()->add_session_ids(kSession);
  request.set_pattern("kernel_1$|kernel_2.");
  request.set_max_hits(5);
  grpc::ClientContext context;
  query_v1::SearchResponse response;
  REQUIRE(services.query().Search(&context, request, &response).ok());
  std::map<std::string, std::vector<std::pair<int64_t, uint32_t>>> wanted;
  for (const auto& [lane, events] : written.events) {
    for (const Event& event : events) {
      const std::string& name = written.names.at(event.op);
      const bool matches =
          name == "kernel_1" || (name.rfind("kernel_2", 0) == 0 && name.size() > 8);
      if (matches) wanted[name].emplace_back(event.start_ns, lane);
    }
  }
  REQUIRE(static_cast<size_t>(response.ops_size()) == wanted.size());
  CHECK(response.total_ops() == wanted.size());
  uint64_t total = 0;
  for (const query_v1::OpHits& op : response.ops()) {
    auto& hits = wanted.at(op.name());
    std::sort(hits.begin(), hits.end());
    total += hits.size();
    CHECK(op.count() == hits.size());
    REQUIRE(op.hits_size() == static_cast<int>(std::min<size_t>(5, hits.size())));
    for (int i = 0; i < op.hits_size(); ++i)
      CHECK(op.hits(i).start_ns() == hits[static_cast<size_t>(i)].first);
  }
  CHECK(response.total_events() == total);
}

TEST_CASE("a bad pattern is refused with what is wrong about it") {
  RunningServices services;
  WriteSession(services, kSession, 11, 10);
  query_v1::SearchRequest request;
  request.mutable_scope()->add_session_ids(kSession);
  request.set_pattern("(");
  grpc::ClientContext context;
  query_v1::SearchResponse response;
  const grpc::Status status = services.query().Search(&context, request, &response);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status.error_message().find("missing") != std::string::npos);
}

TEST_CASE("scopes select by project, host, process, pid and labels") {
  RunningServices services;
  WriteSession(services, kSession, 12, 10);
  const auto count = [&](const std::function<void(query_v1::Scope&)>& set) {
    query_v1::ListSessionsRequest request;
    set(*request.mutable_scope());
    grpc::ClientContext context;
    query_v1::ListSessionsResponse response;
    REQUIRE(services.query().ListSessions(&context, request, &response).ok());
    return response.sessions_size();
  };
  CHECK(count([](auto&) {}) == 1);
  CHECK(count([](auto& scope) { scope.set_process("python3"); }) == 1);
  CHECK(count([](auto& scope) { scope.set_process("python"); }) == 0);
  CHECK(count([](auto& scope) { scope.set_pid(4'121); }) == 1);
  CHECK(count([](auto& scope) { scope.set_pid(1); }) == 0);
  CHECK(count([](auto& scope) { scope.set_host("elsewhere"); }) == 0);
  CHECK(count([](auto& scope) { (*scope.mutable_labels())["job"] = "nightly"; }) == 1);
  CHECK(count([](auto& scope) { (*scope.mutable_labels())["job"] = "daily"; }) == 0);
}

TEST_CASE("the same events written again are stored once") {
  RunningServices services;
  WriteSession(services, kSession, 13, 2'000);
  WriteSession(services, kSession, 13, 2'000);
  const Received received = ReadTimeline(services, TimelineOf(kSession));
  CHECK(received.expected == 2'000);
}

}  // namespace
}  // namespace nanolane::testing
