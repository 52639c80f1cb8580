// Following, density and tiles over gRPC, in front of a real store that seals meanwhile.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"
#include "tests/support/running_services.h"

namespace nanolane::testing {
namespace {

namespace query_v1 = nanolane::query::v1;
namespace store_v1 = nanolane::store::v1;
using trace::Event;

std::string IdOf(int number) {
  std::string id = std::to_string(number);
  return std::string(32 - id.size(), '0') + id;
}

// Appends to one session, waiting for each acknowledgement: what Append() returns from is durable.
class Writer {
 public:
  Writer(RunningServices& services, const std::string& id, const std::string& project = "live")
      : stream_(services.store().Append(&context_)) {
    rpc::SetDeadline(context_, std::chrono::seconds(60));
    session_.set_session_id(id);
    session_.set_project(project);
    for (int64_t stream = 1; stream <= 2; ++stream) {
      lanes_.push_back(
          dictionary_.Intern(trace::Lane{.kind = trace::LaneKind::kStream, .stream = stream}));
    }
  }

  trace::OpId Kernel(const std::string& name) {
    return dictionary_.Intern(
        trace::Op{.kind = trace::EventKind::kKernel, .name = dictionary_.Intern(name)});
  }

  void Append(size_t lane, const std::vector<Event>& events, bool ended = false) {
    store_v1::AppendRequest request;
    session_.set_ended(ended);
    *request.mutable_session() = session_;
    request.set_epoch(1);
    request.set_sequence(++sequence_);
    trace::EventColumns columns;
    trace::OpId op = 0;
    for (const Event& event : events) {
      columns.Add(event);
      op = std::max(op, event.op);
    }
    const trace::DictionaryDelta delta = dictionary_.TakeDelta();
    if (!delta.empty()) trace::ToProto(delta, *request.mutable_dictionary());
    if (!events.empty()) {
      request.add_blocks(*trace::EncodeBlock(
          columns, {.lane = lanes_[lane], .needs = dictionary_.NeedsOf(op, 0)}));
    }
    REQUIRE(stream_->Write(request));
    store_v1::AppendResponse response;
    while (response.acknowledged_sequence() < sequence_) REQUIRE(stream_->Read(&response));
  }

  void End() {
    Append(0, {}, /*ended=*/true);
    stream_->WritesDone();
    CHECK(stream_->Finish().ok());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<store_v1::AppendRequest, store_v1::AppendResponse>>
      stream_;
  nanolane::trace::v1::Session session_;
  trace::DictionaryBuilder dictionary_;
  std::vector<trace::LaneId> lanes_;
  uint64_t sequence_ = 0;
};

// One client that follows a session.
class Follower {
 public:
  Follower(RunningServices& services, const std::string& id, uint64_t cursor = 0) {
    rpc::SetDeadline(context_, std::chrono::seconds(60));  // a stream that hangs fails
    query_v1::FollowRequest request;
    request.set_session_id(id);
    request.set_cursor(cursor);
    request.set_max_block_version(trace::kBlockVersion);
    stream_ = services.query().Follow(&context_, request);
  }

  // Reads until it has so many events. False: the stream ended before.
  bool ReadUntil(size_t events) {
    query_v1::FollowResponse step;
    while (correlations_.size() < events || !caught_up_) {
      if (!stream_->Read(&step)) return false;
      if (step.restart()) correlations_.clear();
      if (step.cursor() > 0) cursor_ = step.cursor();
      caught_up_ = step.caught_up();
      for (const query_v1::Block& block : step.blocks()) {
        trace::EventColumns columns;
        if (!trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns).ok()) return false;
        correlations_.insert(columns.correlation.begin(), columns.correlation.end());
      }
    }
    return true;
  }

  absl::Status Cancel() {
    context_.TryCancel();
    query_v1::FollowResponse step;
    while (stream_->Read(&step)) {
    }
    return rpc::FromGrpc(stream_->Finish());
  }
  absl::Status Finish() { return rpc::FromGrpc(stream_->Finish()); }

  const std::multiset<uint64_t>& correlations() const { return correlations_; }
  uint64_t cursor() const { return cursor_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<query_v1::FollowResponse>> stream_;
  std::multiset<uint64_t> correlations_;
  uint64_t cursor_ = 0;
  bool caught_up_ = false;
};

std::vector<Event> Some(trace::OpId op, int64_t from, size_t count) {
  std::vector<Event> events;
  for (size_t i = 0; i < count; ++i) {
    const auto at = from + static_cast<int64_t>(i) * 10;
    events.push_back(
        {.op = op, .start_ns = at, .duration_ns = 7, .correlation = static_cast<uint64_t>(at)});
  }
  return events;
}

TEST_CASE("a hundred followers get all of a session once, whether they read or not") {
  RunningServices services;
  Writer writer(services, IdOf(1));
  const trace::OpId op = writer.Kernel("k");
  writer.Append(0, Some(op, 0, 100));
  constexpr size_t kReading = 50;
  constexpr size_t kIdle = 50;
  constexpr size_t kAppends = 200;
  constexpr size_t kEvents = 100 + kAppends * 500;
  std::vector<std::unique_ptr<Follower>> followers;
  for (size_t i = 0; i < kReading + kIdle; ++i) {
    followers.push_back(std::make_unique<Follower>(services, IdOf(1)));
  }
  std::vector<std::future<bool>> reading;
  for (size_t i = 0; i < kReading; ++i) {
    reading.push_back(
        std::async(std::launch::async, [&, i] { return followers[i]->ReadUntil(kEvents); }));
  }
  // Each append is acknowledged while half of the followers read nothing at all.
  for (size_t i = 0; i < kAppends; ++i) {
    writer.Append(i % 2, Some(op, static_cast<int64_t>(1 + i) * 10'000, 500));
  }
  for (std::future<bool>& done : reading) CHECK(done.get());
  writer.End();
  services.engine().sealer().WaitIdle();
  for (size_t i = 0; i < kReading + kIdle; ++i) {
    CAPTURE(i);
    CHECK(followers[i]->ReadUntil(kEvents));
    const auto& got = followers[i]->correlations();
    CHECK(got.size() == kEvents);
    CHECK(std::set<uint64_t>(got.begin(), got.end()).size() == kEvents);
    CHECK(followers[i]->Cancel().code() == absl::StatusCode::kCancelled);
  }
}

TEST_CASE("a follower resumes where it was, and a session that is deleted ends it") {
  RunningServices services;
  Writer writer(services, IdOf(1));
  const trace::OpId op = writer.Kernel("k");
  writer.Append(0, Some(op, 0, 50));
  uint64_t cursor = 0;
  {
    Follower first(services, IdOf(1));
    REQUIRE(first.ReadUntil(50));
    cursor = first.cursor();
    CHECK(first.Cancel().code() == absl::StatusCode::kCancelled);
  }
  writer.Append(1, Some(op, 1'000'000, 30));
  Follower second(services, IdOf(1), cursor);
  REQUIRE(second.ReadUntil(30));
  CHECK(*second.correlations().begin() == 1'000'000);
  grpc::ClientContext context;
  query_v1::DeleteSessionRequest request;
  request.set_session_id(IdOf(1));
  query_v1::DeleteSessionResponse response;
  REQUIRE(services.query().DeleteSession(&context, request, &response).ok());
  CHECK_FALSE(second.ReadUntil(31));
  CHECK(second.Finish().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("following what is not there, or what no session is called, says so") {
  RunningServices services;
  Follower missing(services, IdOf(7));
  CHECK_FALSE(missing.ReadUntil(1));
  CHECK(missing.Finish().code() == absl::StatusCode::kNotFound);
  Follower nonsense(services, "xyz");
  CHECK_FALSE(nonsense.ReadUntil(1));
  CHECK(nonsense.Finish().code() == absl::StatusCode::kInvalidArgument);
}

uint64_t EventsOf(const query_v1::GetDensityResponse& density) {
  uint64_t events = 0;
  for (const auto& layer : density.layers()) {
    for (const auto& bin : layer.bins()) {
      for (const auto& cell : bin.cells()) events += cell.events();
    }
  }
  return events;
}

TEST_CASE("density adds up the sessions of a scope, and of everything") {
  RunningServices services;
  for (int i = 1; i <= 4; ++i) {
    Writer writer(services, IdOf(i), i % 2 == 0 ? "even" : "odd");
    writer.Append(0, Some(writer.Kernel("k"), 0, 10 * static_cast<size_t>(i)));
    writer.End();
  }
  const auto ask = [&](const std::string& project) {
    grpc::ClientContext context;
    query_v1::GetDensityRequest request;
    if (!project.empty()) request.mutable_scope()->set_project(project);
    query_v1::GetDensityResponse response;
    REQUIRE(services.query().GetDensity(&context, request, &response).ok());
    return response;
  };
  CHECK(EventsOf(ask("")) == 100);
  CHECK(ask("").sessions() == 4);
  CHECK(EventsOf(ask("even")) == 60);
  CHECK(EventsOf(ask("none")) == 0);
  CHECK(ask("none").sessions() == 0);
}

TEST_CASE("tiles of lanes of several sessions come in the order asked for, with common names") {
  RunningServices services;
  for (int i = 1; i <= 2; ++i) {
    Writer writer(services, IdOf(i));
    if (i == 2) writer.Kernel("first here");
    writer.Append(0, Some(writer.Kernel("common"), 0, 100));
    writer.Append(1, Some(writer.Kernel("own " + std::to_string(i)), 0, 50));
    writer.End();
  }
  const auto add = [](query_v1::GetTilesRequest& request, int session, uint32_t lane) {
    query_v1::LaneRef& ref = *request.add_lanes();
    ref.set_session_id(IdOf(session));
    ref.set_lane_id(lane);
  };
  query_v1::GetTilesRequest request;
  request.mutable_window()->set_end_ns(1'000);
  request.set_columns(10);
  add(request, 2, 1);
  add(request, 1, 2);
  add(request, 1, 9);  // there is none
  add(request, 1, 1);
  grpc::ClientContext context;
  query_v1::GetTilesResponse response;
  REQUIRE(services.query().GetTiles(&context, request, &response).ok());
  REQUIRE(response.lanes_size() == 3);
  CHECK(response.lanes(0).lane().session_id() == IdOf(2));
  CHECK(response.lanes(1).lane().lane_id() == 2);
  const auto name_of = [&](int lane) {
    return response.names(static_cast<int>(response.lanes(lane).spans().dominant_name(0)) - 1);
  };
  CHECK(name_of(0) == "common");
  CHECK(name_of(1) == "own 1");
  CHECK(response.lanes(0).spans().dominant_name(0) == response.lanes(2).spans().dominant_name(0));
  uint64_t starts = 0;
  uint64_t covered = 0;
  for (int i = 0; i < 10; ++i) {
    starts += response.lanes(0).spans().starts(i);
    covered += response.lanes(0).spans().covered_ns(i);
  }
  CHECK(starts == 100);
  CHECK(covered == 700);

  const auto refused = [&](query_v1::GetTilesRequest bad) {
    grpc::ClientContext another;
    query_v1::GetTilesResponse none;
    return rpc::FromGrpc(services.query().GetTiles(&another, bad, &none)).code();
  };
  query_v1::GetTilesRequest none;
  none.set_columns(5);
  CHECK(refused(none) == absl::StatusCode::kInvalidArgument);
  query_v1::GetTilesRequest huge = request;
  huge.set_columns(200'000);
  CHECK(refused(huge) == absl::StatusCode::kInvalidArgument);
  query_v1::GetTilesRequest missing = request;
  add(missing, 8, 1);
  CHECK(refused(missing) == absl::StatusCode::kNotFound);
}

TEST_CASE("many writers and readers at once: nothing is lost, nothing is counted twice") {
  RunningServices services;
  constexpr int kWriters = 8;
  constexpr int kAppends = 60;
  std::atomic<bool> writing = true;
  std::vector<std::thread> threads;
  for (int i = 1; i <= kWriters; ++i) {
    threads.emplace_back([&, i] {
      Writer writer(services, IdOf(i));
      const trace::OpId op = writer.Kernel("k");
      for (int j = 0; j < kAppends; ++j) {
        writer.Append(static_cast<size_t>(j % 2), Some(op, j * 10'000, 100));
      }
      writer.End();
    });
  }
  std::vector<std::thread> readers;
  std::atomic<int> answers = 0;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (writing) {
        grpc::ClientContext context;
        query_v1::GetDensityResponse density;
        const auto asked = services.query().GetDensity(&context, {}, &density);
        ++answers;
        failures += asked.ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writing = false;
  for (std::thread& thread : readers) thread.join();
  CHECK(answers > 0);
  CHECK(failures == 0);
  services.engine().sealer().WaitIdle();
  grpc::ClientContext context;
  query_v1::ListSessionsResponse sessions;
  REQUIRE(services.query().ListSessions(&context, {}, &sessions).ok());
  REQUIRE(sessions.sessions_size() == kWriters);
  for (const auto& session : sessions.sessions()) {
    CHECK(session.events() == kAppends * 100);
    CHECK(session.unsealed_events() == 0);
    CHECK(session.by_kind(0).count() == kAppends * 100);
  }
}

}  // namespace
}  // namespace nanolane::testing
