#include "clients/desktop/model/timeline_loader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/testing/fake_query_service.h"
#include "clients/desktop/testing/signal.h"
#include "libs/base/clock.h"
#include "libs/rpc/channel.h"

namespace nanolane::desktop {
namespace {

// Takes everything; returns what the stream ended with.
absl::Status Drain(TimelineLoader& loader, TimelineModel& model) {
  absl::Status end = absl::InternalError("no end");
  while (std::optional<LoaderMessage> message = loader.Wait()) {
    if (const auto* ended = std::get_if<StreamEnded>(&*message)) end = ended->status;
    model.Apply(std::move(*message));
  }
  return end;
}

}  // namespace

TEST_CASE("the newest session arrives whole") {
  FakeQueryService service;
  const SessionBuilder newest = SmallSession();
  service.Serve(newest, 10);
  service.Serve(LargeSession(2, 100));
  TimelineLoader loader(service.channel(), {.server = service.address()});
  TimelineModel model;
  CHECK(Drain(loader, model).ok());
  CHECK(model.received_events() == newest.events());
  CHECK(model.sessions().front().id == std::string(32, 'a'));
  CHECK(model.phase() == TimelineModel::Phase::kComplete);
}

TEST_CASE("a session is found by the first digits of its id") {
  FakeQueryService service;
  service.Serve(SmallSession());
  service.Serve(LargeSession(2, 100));
  TimelineLoader loader(service.channel(), {.server = service.address(), .session = "bbb"});
  TimelineModel model;
  CHECK(Drain(loader, model).ok());
  CHECK(model.sessions().front().id == std::string(32, 'b'));
}

TEST_CASE("a range is asked for in session time") {
  FakeQueryService service;
  service.Serve(SmallSession());
  TimelineLoader loader(service.channel(),
                        {.server = service.address(), .range = base::TimeRange{1'000, 2'000}});
  TimelineModel model;
  CHECK(Drain(loader, model).ok());
  CHECK(service.last_request().window().start_ns() == 1'000'001'000);
  CHECK(service.last_request().window().end_ns() == 1'000'002'000);
}

TEST_CASE("without sessions the message says what to do") {
  FakeQueryService service;
  TimelineLoader loader(service.channel(), {.server = service.address()});
  TimelineModel model;
  const absl::Status end = Drain(loader, model);
  CHECK(absl::IsNotFound(end));
  CHECK(std::string(end.message()).find("nanolane import") != std::string::npos);
}

TEST_CASE("an unknown session is named in the message") {
  FakeQueryService service;
  service.Serve(SmallSession());
  TimelineLoader loader(service.channel(), {.server = service.address(), .session = "0123"});
  TimelineModel model;
  const absl::Status end = Drain(loader, model);
  CHECK(absl::IsNotFound(end));
  CHECK(std::string(end.message()).find("0123") != std::string::npos);
}

TEST_CASE("without a server the message names the address") {
  FakeQueryService service;
  const std::string address = service.address();
  service.Stop();
  TimelineLoader loader(service.channel(), {.server = address});
  TimelineModel model;
  const absl::Status end = Drain(loader, model);
  CHECK(absl::IsUnavailable(end));
  CHECK(std::string(end.message()).find(address) != std::string::npos);
}

TEST_CASE("an error in the middle keeps what came before it") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  service.set_before_message([](size_t index) {
    return index < 5 ? grpc::Status::OK
                     : grpc::Status(grpc::StatusCode::DATA_LOSS, "block 12 is corrupt");
  });
  TimelineLoader loader(service.channel(), {.server = service.address()});
  TimelineModel model;
  const absl::Status end = Drain(loader, model);
  CHECK(absl::IsDataLoss(end));
  CHECK(std::string(end.message()).find("block 12 is corrupt") != std::string::npos);
  CHECK(model.received_events() == 30);
}

TEST_CASE("a stream that stops before its end is not complete") {
  FakeQueryService service;
  SessionBuilder builder = SmallSession();
  service.Serve(builder, 1'000);
  const size_t messages = builder.Messages(1'000).size();
  service.set_before_message([messages](size_t index) {
    return index + 1 < messages ? grpc::Status::OK
                                : grpc::Status(grpc::StatusCode::ABORTED, "shutting down");
  });
  TimelineLoader loader(service.channel(), {.server = service.address()});
  TimelineModel model;
  CHECK_FALSE(Drain(loader, model).ok());
  CHECK(model.phase() == TimelineModel::Phase::kFailed);
}

TEST_CASE("the first events are there before the last ones are sent") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  Signal seen;
  service.set_before_message([&seen](size_t index) {
    if (index == 4) seen.Wait();  // nothing more until the reader has the first blocks
    return grpc::Status::OK;
  });
  TimelineLoader loader(service.channel(), {.server = service.address()});
  TimelineModel model;
  while (model.received_events() < 20) {
    std::optional<LoaderMessage> message = loader.Wait();
    REQUIRE(message.has_value());
    model.Apply(std::move(*message));
  }
  CHECK(model.phase() == TimelineModel::Phase::kLoading);
  seen.Set();
  CHECK(Drain(loader, model).ok());
}

TEST_CASE("destroying the loader cancels a stream that is stuck") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  Signal stuck;
  Signal release;
  Signal ended;
  service.set_endless();  // nothing but the loader's going ends it
  service.set_after_stream([&] { ended.Set(); });
  service.set_before_message([&](size_t index) {
    if (index == 4) {
      stuck.Set();
      release.Wait();
    }
    return grpc::Status::OK;
  });
  {
    TimelineLoader loader(service.channel(), {.server = service.address()});
    stuck.Wait();
  }
  release.Set();
  // Before the server stops, which would cancel the stream by itself.
  ended.Wait();
  CHECK(service.cancelled_streams() == 1);
  service.Stop();  // the hooks look at what lives here
}

TEST_CASE("a viewer that takes nothing stops the stream, not its own memory") {
  FakeQueryService service;
  // Blocks that do not compress well enough to fit into the transport's buffers all at once.
  service.Serve(LargeSession(4, 400'000), 1'024);
  const size_t messages = LargeSession(4, 400'000).Messages(1'024).size();
  REQUIRE(messages > TimelineLoader::kQueuedMessages * 4);
  Signal filled;
  std::atomic<size_t> posted = 0;
  auto loader = std::make_unique<TimelineLoader>(
      service.channel(), LoaderOptions{.server = service.address(), .on_message = [&] {
                                         if (++posted == TimelineLoader::kQueuedMessages)
                                           filled.Set();
                                       }});
  filled.Wait();
  CHECK(posted == TimelineLoader::kQueuedMessages);
  TimelineModel model;
  CHECK(Drain(*loader, model).ok());
  CHECK(model.received_events() == 400'000);
}

TEST_CASE("the feed tries again until there is a server") {
  FakeQueryService gone;
  gone.Stop();
  FakeQueryService service;
  service.Serve(SmallSession());
  base::FakeClock clock(1);
  int channels = 0;
  Signal posted;
  TimelineFeed feed(
      [&] { return channels++ == 0 ? rpc::OpenChannel(gone.address()) : service.channel(); },
      {.server = service.address(), .on_message = [&] { posted.Set(); }}, clock);
  posted.Wait();
  CHECK(feed.Pump(1));
  CHECK(absl::IsUnavailable(feed.last_failure()));
  CHECK(feed.waiting_to_retry());
  CHECK_FALSE(feed.Pump(1));
  CHECK(channels == 1);
  clock.Advance(TimelineFeed::kFirstRetryNs);
  feed.Pump(1);
  CHECK(channels == 2);
  feed.PumpUntilLoaded();
  CHECK(feed.model().phase() == TimelineModel::Phase::kComplete);
  CHECK(feed.last_failure().ok());
}

TEST_CASE("pauses between tries grow to a bound and begin anew once a server answers") {
  FakeQueryService gone;
  gone.Stop();
  base::FakeClock clock(1);
  Signals posted;
  TimelineFeed feed([&] { return rpc::OpenChannel(gone.address()); },
                    {.server = gone.address(), .on_message = [&] { posted.Add(); }}, clock);
  int64_t expected = TimelineFeed::kFirstRetryNs;
  for (int attempt = 1; attempt <= 7; ++attempt) {
    posted.Take();
    REQUIRE(feed.Pump(1));
    CHECK(feed.loaded().attempt.tries == attempt);
    CHECK(feed.loaded().attempt.retry_in_ns == expected);
    clock.Advance(expected);
    feed.Pump(0);
    CHECK_FALSE(feed.waiting_to_retry());
    CHECK(absl::IsUnavailable(feed.last_failure()));  // said while the next try runs
    expected = std::min(expected * 2, TimelineFeed::kLongestRetryNs);
  }
  CHECK(expected == TimelineFeed::kLongestRetryNs);
}

TEST_CASE("while there is no session the pauses stay short") {
  FakeQueryService service;
  base::FakeClock clock(1);
  Signals posted;
  TimelineFeed feed([&] { return service.channel(); },
                    {.server = service.address(), .on_message = [&] { posted.Add(); }}, clock);
  for (int attempt = 0; attempt < 6; ++attempt) {
    posted.Take();
    REQUIRE(feed.Pump(1));
    REQUIRE(feed.waiting_to_retry());
    CHECK(feed.loaded().attempt.retry_in_ns <= TimelineFeed::kLongestSessionRetryNs);
    if (attempt == 5) service.Serve(SmallSession());
    clock.Advance(TimelineFeed::kLongestSessionRetryNs);
    feed.Pump(0);
  }
  feed.PumpUntilLoaded();
  CHECK(feed.model().phase() == TimelineModel::Phase::kComplete);
  CHECK(feed.loaded().attempt.tries == 0);
}

TEST_CASE("another session takes the place of the one in sight with its first events") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  service.Serve(LargeSession(2, 100), 10);
  base::FakeClock clock(1);
  TimelineFeed feed([&] { return service.channel(); }, {.server = service.address()}, clock);
  feed.PumpUntilLoaded();
  const uint64_t generation = feed.model().generation();
  Signal more;
  service.set_before_message([&](size_t index) {
    if (index == 2) more.Wait();  // header and dictionary are there, events are not
    return grpc::Status::OK;
  });
  feed.Open(std::string(32, 'b'));
  for (int i = 0; i < 50; ++i) feed.Pump(1);
  CHECK(feed.model().generation() == generation);
  CHECK(feed.model().received_events() == SmallSession().events());
  CHECK(feed.loaded().attempt.opening == std::string(32, 'b'));
  more.Set();
  while (feed.model().generation() == generation) feed.Pump(0);
  CHECK(feed.model().sessions().front().id == std::string(32, 'b'));
  CHECK(feed.model().received_events() == 10);
  CHECK(feed.loaded().attempt.opening.empty());
  feed.PumpUntilLoaded();
  CHECK(feed.model().received_events() == 100);
  service.Stop();  // the hook looks at what lives here
}

TEST_CASE("a session that cannot be opened leaves the one in sight there") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  base::FakeClock clock(1);
  TimelineFeed feed([&] { return service.channel(); }, {.server = service.address()}, clock);
  feed.PumpUntilLoaded();
  feed.Open("gone");
  while (!feed.loaded().attempt.opening.empty()) feed.Pump(1);
  CHECK(absl::IsNotFound(feed.loaded().attempt.open_failed));
  CHECK(feed.model().phase() == TimelineModel::Phase::kComplete);
  CHECK(feed.last_failure().ok());
  feed.Open(std::string(32, 'a'));
  CHECK(feed.loaded().attempt.open_failed.ok());
}

TEST_CASE("an empty session takes the place of the one in sight when all of it is known") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  service.Serve(SessionBuilder(std::string(32, 'e')));
  base::FakeClock clock(1);
  TimelineFeed feed([&] { return service.channel(); }, {.server = service.address()}, clock);
  feed.PumpUntilLoaded();
  feed.Open(std::string(32, 'e'));
  while (!feed.loaded().attempt.opening.empty()) feed.Pump(1);
  CHECK(feed.model().sessions().front().id == std::string(32, 'e'));
  CHECK(feed.model().received_events() == 0);
}

TEST_CASE("a pump stays within its time but always does something") {
  FakeQueryService service;
  service.Serve(SmallSession(), 10);
  base::FakeClock clock(1);
  TimelineFeed feed([&] { return service.channel(); }, {.server = service.address()}, clock);
  // The clock stands still, so a budget of nothing is one message a pump.
  size_t pumps = 0;
  while (feed.model().phase() != TimelineModel::Phase::kComplete) {
    if (feed.Pump(0)) ++pumps;
  }
  CHECK(pumps >= SmallSession().events() / 10);
}

}  // namespace nanolane::desktop
