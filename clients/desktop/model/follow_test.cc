// A session that is being recorded, followed over a real connection.

#include <catch2/catch.hpp>
#include <memory>

#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/testing/fake_query_service.h"
#include "clients/desktop/testing/live_script.h"
#include "clients/desktop/testing/model_digest.h"
#include "clients/desktop/testing/signal.h"
#include "libs/base/clock.h"

namespace nanolane::desktop {
namespace {

using Phase = TimelineModel::Phase;

trace::v1::SessionSummary Listed(const LiveScript& script) {
  trace::v1::SessionSummary summary = script.summary();
  summary.mutable_session()->set_ended(false);
  return summary;
}

LoaderOptions Options(const FakeQueryService& service) {
  return {.server = service.address(), .first_pause = std::chrono::nanoseconds(1)};
}

// The session as it is read once it has ended.
std::vector<std::string> WholeDigest(const LiveScript& script) {
  FakeQueryService service;
  service.Serve(script.summary(), script.whole());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  feed.PumpUntilLoaded();
  REQUIRE(feed.model().phase() == Phase::kComplete);
  return DigestOf(feed.model());
}

// Follows until the session has ended, or until it is clear that it will not.
void PumpToEnd(TimelineFeed& feed) {
  while (feed.model().phase() != Phase::kComplete && feed.model().phase() != Phase::kFailed) {
    feed.Pump(1'000'000);
  }
}

}  // namespace

TEST_CASE("a followed session is the same as one that is read whole, in any order of blocks") {
  const base::SystemClock clock;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const LiveScript script(TwoWriters(),
                            {.block_events = 7, .state_blocks = seed * 4 - 4, .seed = seed});
    FakeQueryService service;
    service.Record(Listed(script), script.steps(), script.steps().size());
    TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
    PumpToEnd(feed);
    REQUIRE(feed.model().phase() == Phase::kComplete);
    CHECK(feed.model().followed());
    CHECK(feed.model().received_events() == script.summary().events());
    CHECK(service.follows() == 1);
    CHECK(DigestOf(feed.model()) == WholeDigest(script));
  }
}

TEST_CASE("what happens shows up as it happens") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  FakeQueryService service;
  service.Record(Listed(script), script.steps(), script.state_steps());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  feed.PumpUntilLoaded();
  REQUIRE(feed.model().phase() == Phase::kLive);
  for (size_t step = script.state_steps(); step < script.steps().size(); ++step) {
    const uint64_t expected = script.steps()[step].summary().events();
    service.Happen(1);
    while (feed.model().sessions().front().events < expected ||
           feed.model().received_events() < expected) {
      feed.Pump(1'000'000);
    }
    CHECK(feed.model().received_events() == expected);
  }
  PumpToEnd(feed);
  CHECK(feed.model().phase() == Phase::kComplete);
}

TEST_CASE("a connection that breaks before any message loses nothing and doubles nothing") {
  const LiveScript script(TwoWriters(), {.block_events = 16, .state_blocks = 4, .seed = 3});
  const std::vector<std::string> whole = WholeDigest(script);
  const base::SystemClock clock;
  for (size_t broken = 0; broken < script.steps().size(); ++broken) {
    FakeQueryService service;
    bool breaks = true;
    service.set_before_step([&breaks, broken](size_t index) {
      if (index != broken || !std::exchange(breaks, false)) return grpc::Status::OK;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "restarting");
    });
    service.Record(Listed(script), script.steps(), script.steps().size());
    TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
    PumpToEnd(feed);
    CHECK(service.follows() == 2);
    // Within the state it begins anew; after it, where it was.
    const uint64_t resumed =
        broken < script.state_steps() ? 0 : script.steps()[broken - 1].cursor();
    CHECK(service.last_cursor() == resumed);
    REQUIRE(feed.model().phase() == Phase::kComplete);
    CHECK(feed.last_failure().ok());
    CHECK(DigestOf(feed.model()) == whole);
  }
}

TEST_CASE("a connection that breaks at every message gets there all the same") {
  const LiveScript script(TwoWriters(), {.block_events = 16, .state_blocks = 1});
  FakeQueryService service;
  std::vector<bool> broken(script.steps().size(), false);
  service.set_before_step([&broken](size_t index) {
    if (broken[index]) return grpc::Status::OK;
    broken[index] = true;
    return grpc::Status(grpc::StatusCode::INTERNAL, "reset");
  });
  service.Record(Listed(script), script.steps(), script.steps().size());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  PumpToEnd(feed);
  CHECK(service.follows() == script.steps().size() + 1);
  CHECK(DigestOf(feed.model()) == WholeDigest(script));
}

TEST_CASE("while the connection is broken the reason is there and what was loaded stays") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  FakeQueryService service;
  Signal mended;
  const size_t at = script.state_steps();
  bool breaks = true;
  service.set_before_step([&](size_t index) {
    if (index != at) return grpc::Status::OK;
    if (std::exchange(breaks, false)) {
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone for lunch");
    }
    mended.Wait();
    return grpc::Status::OK;
  });
  service.Record(Listed(script), script.steps(), script.steps().size());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  while (feed.last_failure().ok()) feed.Pump(1'000'000);
  CHECK(absl::IsUnavailable(feed.last_failure()));
  CHECK(feed.model().phase() == Phase::kLive);
  CHECK(feed.model().received_events() > 0);
  CHECK_FALSE(feed.waiting_to_retry());
  mended.Set();
  PumpToEnd(feed);
  CHECK(feed.last_failure().ok());
  CHECK(feed.model().phase() == Phase::kComplete);
}

TEST_CASE("a stream that starts anew replaces the model once it has caught up, not before") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 8});
  // The state, some news, then the same state again and all the news.
  std::vector<query::v1::FollowResponse> steps(
      script.steps().begin(),
      script.steps().begin() + static_cast<std::ptrdiff_t>(script.state_steps()) + 3);
  const size_t before = steps.size();
  steps.insert(steps.end(), script.steps().begin(), script.steps().end());
  FakeQueryService service;
  service.Record(Listed(script), steps, before);
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  feed.PumpUntilLoaded();
  const uint64_t reached = steps[before - 1].summary().events();
  while (feed.model().received_events() < reached) feed.Pump(1'000'000);
  const uint64_t generation = feed.model().generation();
  service.Happen(script.steps().size());
  while (feed.model().generation() == generation) {
    CHECK(feed.model().received_events() == reached);
    feed.Pump(0);
  }
  CHECK(feed.model().phase() != Phase::kLoading);
  CHECK(feed.model().received_events() > 0);
  PumpToEnd(feed);
  CHECK(DigestOf(feed.model()) == WholeDigest(script));
}

TEST_CASE("a session that is deleted while it is followed stays in sight with the reason") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  FakeQueryService service;
  service.set_before_step([&script](size_t index) {
    return index < script.state_steps() ? grpc::Status::OK
                                        : grpc::Status(grpc::StatusCode::NOT_FOUND, "deleted");
  });
  service.Record(Listed(script), script.steps(), script.steps().size());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  PumpToEnd(feed);
  CHECK(feed.model().phase() == Phase::kFailed);
  CHECK(absl::IsNotFound(feed.model().status()));
  CHECK(feed.model().received_events() > 0);
  CHECK(service.follows() == 1);
}

TEST_CASE("an end whose count is not what came is an error") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  std::vector<query::v1::FollowResponse> steps = script.steps();
  steps.back().mutable_summary()->set_events(script.summary().events() + 1);
  FakeQueryService service;
  service.Record(Listed(script), steps, steps.size());
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
  PumpToEnd(feed);
  CHECK(absl::IsDataLoss(feed.model().status()));
}

TEST_CASE("without resuming, a broken stream is the end") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  FakeQueryService service;
  service.set_before_step([](size_t index) {
    return index == 0 ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  });
  service.Record(Listed(script), script.steps(), script.steps().size());
  LoaderOptions options = Options(service);
  options.resume = false;
  const base::SystemClock clock;
  TimelineFeed feed([&] { return service.channel(); }, options, clock);
  feed.PumpUntilLoaded();
  CHECK(absl::IsUnavailable(feed.model().status()));
}

TEST_CASE("closing the viewer ends a following that waits, and one that rests between tries") {
  const LiveScript script(TwoWriters(), {.block_events = 10, .state_blocks = 5});
  FakeQueryService service;
  Signal gone;
  service.set_after_follow([&gone] { gone.Set(); });
  service.Record(Listed(script), script.steps(), script.state_steps());
  const base::SystemClock clock;
  {
    TimelineFeed feed([&] { return service.channel(); }, Options(service), clock);
    feed.PumpUntilLoaded();
  }
  gone.Wait();
  CHECK(service.follows() == 1);

  FakeQueryService broken;
  broken.set_before_step(
      [](size_t) { return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone"); });
  broken.Record(Listed(script), script.steps(), 1);
  LoaderOptions options = Options(broken);
  options.first_pause = std::chrono::hours(1);
  auto feed = std::make_unique<TimelineFeed>([&] { return broken.channel(); }, options, clock);
  while (feed->last_failure().ok()) feed->Pump(1'000'000);
  feed.reset();
  CHECK(broken.follows() == 1);
}

}  // namespace nanolane::desktop
