#include "clients/desktop/model/notices.h"

#include <catch2/catch.hpp>

#include "clients/desktop/model/event_rate.h"

namespace nanolane::desktop {
namespace {

SessionFacts Session() {
  SessionFacts session{.id = std::string(32, 'a')};
  session.events = 10;
  session.end_ns = 2'000'000'000;
  return session;
}

TimelineModel Opened(const SessionFacts& session, bool live = false) {
  TimelineModel model;
  model.Apply(
      StreamOpened{.sessions = {session}, .lanes = {}, .expected_events = 10, .live = live});
  return model;
}

trace::Loss Lost(trace::EventKind kind, const std::string& reason, uint64_t count) {
  return {.kind = kind, .reason = reason, .count = count};
}

const absl::Status kFine;

}  // namespace

TEST_CASE("a whole session needs no notice") {
  CHECK(NoticesOf({Opened(Session()), kFine}).empty());
  CHECK(NoticesOf({TimelineModel(), absl::UnavailableError("no server")}).empty());
}

TEST_CASE("what is missing is told by reason, the largest first") {
  SessionFacts session = Session();
  session.losses = {Lost(trace::EventKind::kMemcpy, "ring full", 5),
                    Lost(trace::EventKind::kKernel, "buffer dropped", 12'000)};
  session.left_out = {Lost(trace::EventKind::kUnspecified, "before the start", 7)};
  const TimelineModel model = Opened(session);
  const std::vector<Notice> notices = NoticesOf({model, kFine});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == Notice::Kind::kMissing);
  CHECK(notices[0].text ==
        "Not everything is here: 12 005 lost, 7 left out · mostly kernel, lost: buffer dropped");
  CHECK(notices[0].details == std::vector<std::string>{"12 000  kernel, lost: buffer dropped",
                                                       "7  left out: before the start",
                                                       "5  memcpy, lost: ring full"});
}

TEST_CASE("dismissed losses come back with a new reason, not with a higher count") {
  SessionFacts session = Session();
  session.losses = {Lost(trace::EventKind::kKernel, "ring full", 5)};
  NoticeBoard board;
  const TimelineModel few = Opened(session);
  board.Update({few, kFine});
  REQUIRE(board.notices().size() == 1);
  board.ToggleDetails(board.notices()[0].key);
  CHECK(board.Unfolded(board.notices()[0].key));
  board.Dismiss(board.notices()[0].key);
  board.Update({few, kFine});
  CHECK(board.notices().empty());
  session.losses[0].count = 50;
  const TimelineModel more = Opened(session);
  board.Update({more, kFine});
  CHECK(board.notices().empty());
  session.losses.push_back(Lost(trace::EventKind::kSync, "hook missed", 1));
  const TimelineModel other = Opened(session);
  board.Update({other, kFine});
  CHECK(board.notices().size() == 1);
}

TEST_CASE("a recording that ends says so, and why") {
  SessionFacts session = Session();
  TimelineModel model = Opened(session, true);
  model.Apply(StepEnded{.session = std::nullopt, .caught_up = true});
  CHECK(NoticesOf({model, kFine}).empty());
  session.ended = true;
  session.end_reason = "the process has ended";
  model.Apply(StepEnded{.session = session, .caught_up = true});
  model.Apply(StreamEnded{});
  const std::vector<Notice> notices = NoticesOf({model, kFine});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == Notice::Kind::kEnded);
  CHECK(notices[0].text.find("the process has ended") != std::string::npos);
}

TEST_CASE("a lost connection is told while it is lost, each time anew") {
  TimelineModel model = Opened(Session(), true);
  model.Apply(StepEnded{.session = std::nullopt, .caught_up = true});
  const absl::Status gone = absl::UnavailableError("no server at x");
  NoticeBoard board;
  board.Update({model, gone});
  REQUIRE(board.notices().size() == 1);
  CHECK(board.notices()[0].kind == Notice::Kind::kConnectionLost);
  board.Dismiss(board.notices()[0].key);
  board.Update({model, gone});
  CHECK(board.notices().empty());
  board.Update({model, kFine});
  board.Update({model, gone});
  CHECK(board.notices().size() == 1);
}

TEST_CASE("a load that breaks off can be begun again") {
  TimelineModel model = Opened(Session());
  model.Apply(StreamEnded{absl::DataLossError("block 12 is corrupt")});
  const std::vector<Notice> notices = NoticesOf({model, model.status()});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == Notice::Kind::kIncomplete);
  CHECK(notices[0].reopen);
  CHECK(notices[0].text.find("0 of 10 events") != std::string::npos);
  CHECK(notices[0].text.find("block 12 is corrupt") != std::string::npos);
}

TEST_CASE("a session that could not be opened is told beside the one in sight") {
  const TimelineModel model = Opened(Session());
  const std::vector<Notice> notices =
      NoticesOf({model, kFine, {.open_failed = absl::NotFoundError("no session \"b\"")}});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == Notice::Kind::kOpenFailed);
}

TEST_CASE("the rate of events is that of the last seconds") {
  EventRate rate;
  CHECK(rate.per_second() == 0);
  int64_t now_ns = 0;
  uint64_t events = 0;
  for (int i = 0; i < 1'000; ++i) {
    rate.Note(now_ns, events);
    now_ns += 16'000'000;
    events += 160;  // 10 000 a second
  }
  CHECK(rate.per_second() == Approx(10'000).epsilon(0.02));
  for (int i = 0; i < 1'000; ++i) rate.Note(now_ns += 16'000'000, events);
  CHECK(rate.per_second() == 0);
  rate.Note(now_ns += 1'000'000'000, 5);  // another session
  CHECK(rate.per_second() == 0);
}

}  // namespace nanolane::desktop
