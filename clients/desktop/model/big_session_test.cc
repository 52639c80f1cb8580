// Sessions that are too large to be loaded, against a server of this process.
#include "clients/desktop/model/big_session.h"

#include <random>
#include <set>

#include "catch2/catch.hpp"
#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/testing/large_session_service.h"
#include "libs/base/clock.h"

namespace nanolane::desktop {
namespace {

using timeline::PixelColumn;
using timeline::Window;

// All of it, as it would be loaded if it were smaller.
TimelineModel Whole(const SessionBuilder& session) {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(session)) model.Apply(std::move(message));
  return model;
}

LanesInSight Sight(const TimelineModel& model, const Window& window, uint32_t width) {
  LanesInSight sight{.window = window,
                     .heading_to = window,
                     .overview = model.extent(),
                     .width = width,
                     .lanes = {}};
  for (size_t i = 0; i < model.lanes().size(); ++i) sight.lanes.push_back(i);
  return sight;
}

struct Fixture {
  SessionBuilder session;
  LargeSessionService service;
  base::SystemClock clock;
  TimelineFeed feed;

  explicit Fixture(SessionBuilder of)
      : session(std::move(of)),
        service(session),
        feed([this] { return service.channel(); },
             {.server = "test", .most_events = 100, .most_part_events = 500}, clock) {
    feed.PumpUntilLoaded();
  }
  // Shows the window until nothing more comes.
  void Show(const Window& window, uint32_t width) {
    for (int i = 0; i < 10 && feed.ShowAndWait(Sight(feed.model(), window, width)); ++i) {
    }
  }
};

// Start, duration and name of the lane's events that overlap the window.
std::multiset<std::tuple<int64_t, int64_t, std::string>> EventsIn(const TimelineModel& model,
                                                                  size_t lane,
                                                                  const Window& window) {
  std::multiset<std::tuple<int64_t, int64_t, std::string>> found;
  const EventStore& events = model.lanes()[lane]->events;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.start_ns(i) >= window.end_ns) continue;
    if (events.end_ns(i) <= window.start_ns && events.start_ns(i) < window.start_ns) continue;
    found.emplace(events.start_ns(i), events.duration_ns(i), model.names().Full(events.name(i)));
  }
  return found;
}

}  // namespace

TEST_CASE(
    "a session that is too large tells its lanes, and the server's columns are the exact ones") {
  Fixture of(LargeSession(3, 6'000));
  const TimelineModel whole = Whole(of.session);
  const TimelineModel& model = of.feed.model();
  CHECK(model.is_part());
  CHECK(model.received_events() == 0);
  REQUIRE(model.lanes().size() == whole.lanes().size());
  CHECK(model.extent().end_ns == whole.extent().end_ns);
  CHECK_FALSE(model.Has(whole.extent()));
  REQUIRE(of.feed.loaded().tiles != nullptr);

  std::mt19937_64 random(3);
  const int64_t span = whole.extent().span();
  for (int round = 0; round < 30; ++round) {
    const int64_t length = std::max<int64_t>(1, span >> (random() % 12));
    const int64_t start =
        whole.extent().start_ns + static_cast<int64_t>(random() % static_cast<uint64_t>(span));
    const Window window{start, start + length};
    const auto width = static_cast<uint32_t>(1 + random() % 300);
    of.Show(window, width);
    for (size_t lane = 0; lane < whole.lanes().size(); ++lane) {
      std::vector<PixelColumn> exact(width);
      whole.lanes()[lane]->rows.Columns(0, window, exact);
      std::vector<PixelColumn> shown(width);
      if (of.feed.model().Has(window)) {
        of.feed.model().lanes()[lane]->rows.Columns(0, window, shown);
      } else {
        const trace::LaneId id = whole.lanes()[lane]->facts.id;
        CHECK(of.feed.loaded().tiles->Spans(id, window, shown) == TileFrames::Answer::kExact);
      }
      CAPTURE(start, length, width, lane);
      for (uint32_t i = 0; i < width; ++i) {
        REQUIRE(shown[i].covered_ns == exact[i].covered_ns);
        REQUIRE(shown[i].starts == exact[i].starts);
        REQUIRE(shown[i].present == exact[i].present);
        if (exact[i].present) REQUIRE(shown[i].dominant == exact[i].dominant);
      }
    }
  }
}

TEST_CASE("the events of a small window are loaded, with all lanes there still") {
  Fixture of(LargeSession(3, 6'000));
  const TimelineModel whole = Whole(of.session);
  const uint64_t generation = of.feed.model().generation();
  const int64_t middle = whole.extent().start_ns + whole.extent().span() / 2;
  const Window window{middle, middle + whole.extent().span() / 400};
  of.Show(window, 100);
  const TimelineModel& part = of.feed.model();
  CHECK(part.generation() > generation);
  CHECK(part.is_part());
  REQUIRE(part.Has(window));
  CHECK_FALSE(part.Has(whole.extent()));
  CHECK(part.lanes().size() == whole.lanes().size());
  CHECK(part.extent().start_ns == whole.extent().start_ns);
  CHECK(part.received_events() < 6'000);
  for (size_t lane = 0; lane < whole.lanes().size(); ++lane) {
    CHECK(EventsIn(part, lane, window) == EventsIn(whole, lane, window));
  }
  // Within what is loaded nothing is asked for again.
  const int asked = of.service.tile_answers();
  const int streams = of.service.streams();
  of.Show({window.start_ns, window.start_ns + 10}, 100);
  CHECK(of.service.tile_answers() == asked);
  CHECK(of.service.streams() == streams);
}

TEST_CASE("a window with too many events is not loaded, nor asked for again and again") {
  const SessionBuilder session = LargeSession(2, 4'000);
  LargeSessionService service(session);
  TimelineModel model;
  StreamOpened opened;
  opened.sessions.push_back({.id = session.Summary().session().session_id(),
                             .start_ns = session.Summary().start_ns(),
                             .end_ns = session.Summary().end_ns(),
                             .events = 4'000});
  const TimelineModel whole = Whole(session);
  for (const auto& lane : whole.lanes()) opened.lanes.push_back(lane->facts);
  opened.is_part = true;
  BigSession big([&service] { return service.channel(); },
                 {.server = "test", .most_part_events = 500}, opened);
  model.Apply(opened);
  model.Apply(StreamEnded{});
  const LanesInSight sight = Sight(model, whole.extent(), 50);
  for (int i = 0; i < 4; ++i) {
    big.Show(model, sight, i * 2 * BigSession::kRestNs);
    big.WaitForTiles();
    big.WaitForPart();
    INFO(big.failure());
    CHECK(big.failure().ok());
    CHECK(big.TakePart() == nullptr);
  }
  CHECK(service.streams() == 1);
  std::vector<PixelColumn> columns(50);
  CHECK(big.tiles().Spans(opened.lanes[0].id, whole.extent(), columns) ==
        TileFrames::Answer::kExact);
  // A window that moves is not loaded.
  big.Show(model, Sight(model, {0, 10}, 50), 100 * BigSession::kRestNs);
  big.WaitForTiles();
  big.WaitForPart();
  CHECK(service.streams() == 1);
}

TEST_CASE("while the server does not answer, what it said before stays, and why is known") {
  Fixture of(LargeSession(2, 4'000));
  const TimelineModel whole = Whole(of.session);
  of.Show(whole.extent(), 80);
  of.service.set_tiles_fail(true);
  const Window half{whole.extent().start_ns, whole.extent().start_ns + whole.extent().span() / 2};
  of.feed.Show(Sight(of.feed.model(), half, 80));
  std::vector<PixelColumn> columns(80);
  CHECK(of.feed.loaded().tiles->Spans(1, half, columns) == TileFrames::Answer::kStretched);
  CHECK(std::any_of(columns.begin(), columns.end(), [](const auto& c) { return c.present; }));
}

}  // namespace nanolane::desktop
