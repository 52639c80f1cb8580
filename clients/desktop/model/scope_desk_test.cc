#include "clients/desktop/model/scope_desk.h"

#include <catch2/catch.hpp>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

// Five seconds of session time from 100 s on; in Unix time so many seconds ago.
SessionFacts Session(const std::string& id, const std::string& project, uint64_t pid,
                     int64_t seconds_ago) {
  SessionFacts session{.id = id, .project = project, .host = "gpu-1", .executable = "python3"};
  session.pid = pid;
  session.start_ns = 100 * kSecond;
  session.end_ns = 105 * kSecond;
  session.events = 100;
  session.unix_offset_ns = kNow - (seconds_ago + 100) * kSecond;
  session.unix_offset_known = true;
  session.ended = true;
  return session;
}

class Bench {
 public:
  explicit Bench(std::vector<SessionFacts> sessions) : sessions_(std::move(sessions)) {
    Show(0);
    Know();
  }
  // What the catalog then says.
  void Know() {
    catalog_ = std::make_shared<const CatalogSnapshot>(
        CatalogSnapshot{.version = ++version_, .sessions = sessions_, .failure = {}});
    Frame();
  }
  void Show(size_t index) {
    model_ = std::make_unique<TimelineModel>(++generation_);
    model_->Apply(
        StreamOpened{.sessions = {sessions_[index]}, .lanes = {}, .expected_events = 100});
    Frame();
  }
  void Frame() {
    desk.Update(*model_, {.catalog = catalog_,
                          .density = density,
                          .overview = model_->extent(),
                          .sight = model_->extent(),
                          .unix_ns = now_ns});
  }
  std::string Ids() const {
    std::string ids;
    for (const size_t i : desk.selected()) ids += desk.sessions()[i].id;
    return ids;
  }
  void Take(ScopePart part, const std::string& title) {
    desk.TogglePicker(part);
    Frame();
    const auto& matching = desk.picker().matching();
    for (size_t row = 0; row < matching.size(); ++row) {
      if (desk.picker().choices()[matching[row]].title != title) continue;
      desk.TakeRow(row);
      Frame();
      return;
    }
    FAIL("no choice " << title);
  }
  std::vector<SessionFacts>& sessions() { return sessions_; }

  ScopeDesk desk;
  std::shared_ptr<const DensityAnswer> density;
  int64_t now_ns = kNow;

 private:
  std::vector<SessionFacts> sessions_;
  std::shared_ptr<const CatalogSnapshot> catalog_;
  std::unique_ptr<TimelineModel> model_;
  uint64_t version_ = 0;
  uint64_t generation_ = 0;
};

std::vector<SessionFacts> Sessions() {
  return {Session("a", "search", 10, 60), Session("b", "search", 10, 90),
          Session("c", "search", 11, 30), Session("d", "other", 12, 5'000)};
}

}  // namespace

TEST_CASE("the scope begins as the process in sight, with all its captures") {
  Bench bench(Sessions());
  CHECK(bench.Ids() == "ab");
  REQUIRE(bench.desk.strip().has_value());
  // From the older capture's start to the newer one's end, with room at both sides.
  const timeline::Window unix_strip = bench.desk.ToUnix(*bench.desk.strip());
  CHECK(unix_strip.start_ns < kNow - 90 * kSecond);
  CHECK(unix_strip.start_ns > kNow - 92 * kSecond);
  CHECK(unix_strip.end_ns > kNow - 55 * kSecond);
  CHECK(unix_strip.end_ns < kNow - 53 * kSecond);
  CHECK_FALSE(bench.desk.TakeRequest().has_value());
}

TEST_CASE("alone, the session's own overview is the strip, drawn as finely as is known") {
  Bench bench({Session("a", "search", 10, 60)});
  CHECK(bench.desk.strip()->start_ns == 100 * kSecond);
  CHECK(bench.desk.strip()->end_ns == 105 * kSecond);
  bench.density = std::make_shared<const DensityAnswer>();
  bench.Frame();
  CHECK(bench.desk.StripFromServer(1'000));         // 5 ms a pixel: the server's bins are finer
  CHECK_FALSE(bench.desk.StripFromServer(10'000));  // 0.5 ms a pixel: the events are
  bench.sessions().push_back(Session("b", "search", 10, 90));
  bench.Know();
  CHECK(bench.desk.StripFromServer(10'000'000));  // the events say nothing of others
}

TEST_CASE("a capture that is chosen is opened, and its process is the scope") {
  Bench bench(Sessions());
  bench.Take(ScopePart::kProcess, "python3 · 11");
  const auto request = bench.desk.TakeRequest();
  REQUIRE(request.has_value());
  CHECK(request->session == "c");
  CHECK_FALSE(bench.desk.TakeRequest().has_value());
  CHECK(bench.Ids() == "c");
  bench.Show(2);
  CHECK(bench.Ids() == "c");
}

TEST_CASE("a wider choice keeps the session in sight, another one opens its newest") {
  Bench bench(Sessions());
  bench.Take(ScopePart::kProject, "search");
  CHECK(bench.Ids() == "abc");
  CHECK_FALSE(bench.desk.TakeRequest().has_value());
  bench.Take(ScopePart::kProject, "other");
  CHECK(bench.Ids() == "d");
  CHECK(bench.desk.TakeRequest()->session == "d");
  bench.sessions()[1].ended = false;
  bench.Know();
  bench.Show(3);
  bench.Take(ScopePart::kProject, "search");
  CHECK(bench.desk.TakeRequest()->session == "b");  // it is running
}

TEST_CASE("a range of time bounds the strip, even where nothing lies in it") {
  Bench bench(Sessions());
  bench.now_ns = kNow + 86'400 * kSecond;
  bench.Frame();
  bench.Take(ScopePart::kTime, "last 10 min");
  CHECK(bench.Ids().empty());
  CHECK_FALSE(bench.desk.TakeRequest().has_value());
  const timeline::Window strip = bench.desk.ToUnix(*bench.desk.strip());
  CHECK(SpanOf(strip) == 600 * kSecond);
  CHECK(strip.end_ns >= bench.now_ns);
  // It moves on by steps.
  bench.now_ns += kSecond / 2;
  bench.Frame();
  CHECK(bench.desk.ToUnix(*bench.desk.strip()).end_ns == strip.end_ns);
  bench.now_ns += 10 * kSecond;
  bench.Frame();
  CHECK(bench.desk.ToUnix(*bench.desk.strip()).end_ns > strip.end_ns);
}

TEST_CASE("a typed range is offered and taken") {
  Bench bench(Sessions());
  bench.desk.TogglePicker(ScopePart::kTime);
  bench.desk.picker().text() = "2023-11-01 00:00..2023-11-30 00:00";
  bench.Frame();
  REQUIRE(bench.desk.picker().matching().size() == 1);
  bench.desk.TakeRow(0);
  bench.Frame();
  CHECK(bench.desk.scope().time.kind == TimeChoice::Kind::kExact);
  CHECK(SpanOf(*bench.desk.strip()) == Wide{29} * 86'400 * kSecond);
  CHECK(bench.Ids() == "ab");
}

TEST_CASE("a place on the strip opens the session that lies there, at that time") {
  Bench bench(Sessions());
  // "b" lies 30 s before "a": in the time of "a" its extent is from 70 s to 75 s.
  CHECK_FALSE(bench.desk.OpenAt({80 * kSecond, 90 * kSecond}));
  REQUIRE(bench.desk.OpenAt({72 * kSecond, 74 * kSecond}));
  const auto request = bench.desk.TakeRequest();
  REQUIRE(request.has_value());
  CHECK(request->session == "b");
  REQUIRE(request->window.has_value());
  CHECK(request->window->start_ns == 102 * kSecond);
  CHECK(request->window->end_ns == 104 * kSecond);
}

TEST_CASE("the question for density covers the scope and changes as it grows") {
  Bench bench(Sessions());
  const auto question = bench.desk.Question(1'000);
  REQUIRE(question.has_value());
  CHECK(question->session_ids == std::vector<std::string>{"a", "b"});
  CHECK(question->bins == 2'048);  // between one and two a pixel
  CHECK(question->window.start_ns == bench.desk.ToUnix(*bench.desk.strip()).start_ns);
  bench.Frame();
  CHECK(*bench.desk.Question(1'000) == *question);
  bench.sessions()[1].events = 200;
  bench.Know();
  CHECK_FALSE(*bench.desk.Question(1'000) == *question);
}

TEST_CASE("a session whose clock is not known has no place among those that have one") {
  std::vector<SessionFacts> sessions = Sessions();
  sessions[1].unix_offset_known = false;
  Bench bench(sessions);
  CHECK(bench.Ids() == "ab");
  CHECK(bench.desk.strip()->start_ns == 100 * kSecond);
  CHECK(bench.desk.strip()->end_ns == 105 * kSecond);
}

}  // namespace nanolane::desktop
