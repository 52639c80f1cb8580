// Scopes, what the pickers offer, and the picker under the hands.

#include "clients/desktop/model/scope.h"

#include <catch2/catch.hpp>

#include "clients/desktop/model/scope_choices.h"
#include "clients/desktop/model/scope_picker.h"

namespace nanolane::desktop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

SessionFacts Session(const std::string& id, const std::string& project, const std::string& host,
                     uint64_t pid, int64_t seconds_ago, const std::string& gpu = "NVIDIA H200") {
  SessionFacts session{
      .id = id, .project = project, .host = host, .executable = "/usr/bin/python3"};
  session.pid = pid;
  session.gpus.push_back({.index = 0, .uuid = "", .name = gpu, .memory_bytes = 0});
  session.end_ns = 5 * kSecond;
  session.events = 100;
  session.stored_bytes = 1'000;
  session.unix_offset_ns = kNow - seconds_ago * kSecond;
  session.unix_offset_known = true;
  session.ended = true;
  return session;
}

std::vector<SessionFacts> Sessions() {
  return {Session("a", "search", "gpu-1", 10, 60), Session("b", "search", "gpu-2", 11, 1'800),
          Session("c", "", "gpu-1", 12, 7'200, "NVIDIA A100")};
}

std::vector<std::string> Titles(const std::vector<Choice>& choices) {
  std::vector<std::string> titles;
  for (const Choice& choice : choices) titles.push_back(choice.title);
  return titles;
}

Input Pressing(Key key, uint8_t times = 1) {
  Input input;
  input.pressed[static_cast<size_t>(key)] = times;
  return input;
}

}  // namespace

TEST_CASE("each part of a scope must fit") {
  const std::vector<SessionFacts> sessions = Sessions();
  const auto ids = [&](const Scope& scope) {
    std::string all;
    for (const size_t i : Selected(scope, sessions, kNow)) all += sessions[i].id;
    return all;
  };
  CHECK(ids({}) == "abc");
  CHECK(ids({.project = "search"}) == "ab");
  CHECK(ids({.project = "default"}) == "c");
  CHECK(ids({.host = "gpu-1"}) == "ac");
  CHECK(ids({.process = ProcessOf(sessions[1])}) == "b");
  CHECK(ids({.gpu = "NVIDIA A100"}) == "c");
  CHECK(ids({.project = "search", .host = "gpu-1"}) == "a");
  CHECK(ids({.time = {.kind = TimeChoice::Kind::kLast, .last_ns = 600 * kSecond}}) == "a");
  CHECK(ids({.time = {.kind = TimeChoice::Kind::kExact,
                      .last_ns = 0,
                      .exact = {kNow - 2'000 * kSecond, kNow - 1'000 * kSecond}}}) == "b");
}

TEST_CASE("a part that leaves nothing is given up, but not the one that was chosen") {
  const std::vector<SessionFacts> sessions = Sessions();
  Scope scope = ScopeOf(sessions[0]);
  scope.project = "default";
  const Scope widened = Widened(scope, ScopePart::kProject, sessions, kNow);
  CHECK(widened.project == std::string("default"));
  CHECK_FALSE(widened.process.has_value());
  CHECK(widened.host == std::string("gpu-1"));  // it leaves something
}

TEST_CASE("pickers offer what there is, all of it first, then the newest") {
  const std::vector<SessionFacts> sessions = Sessions();
  const auto choices = [&](ScopePart part, const Scope& scope) {
    return ChoicesOf(part, scope, sessions, "a", {}, kNow);
  };
  CHECK(Titles(choices(ScopePart::kProject, ScopeOf(sessions[0]))) ==
        std::vector<std::string>{"all projects", "search", "default"});
  CHECK(Titles(choices(ScopePart::kHost, {.project = "search"})) ==
        std::vector<std::string>{"all hosts", "gpu-1", "gpu-2"});
  CHECK(Titles(choices(ScopePart::kGpu, {})) ==
        std::vector<std::string>{"all GPUs", "NVIDIA H200", "NVIDIA A100"});
  const std::vector<Choice> captures = choices(ScopePart::kProcess, ScopeOf(sessions[0]));
  REQUIRE(captures.size() == 1);  // of that host and project, whatever the process
  CHECK(captures[0].title == "python3 · 10");
  CHECK(captures[0].session == "a");
  CHECK(captures[0].chosen);
  CHECK(captures[0].detail.find("100 events · 1 KB") != std::string::npos);
}

TEST_CASE("what is being recorded comes first and is marked") {
  std::vector<SessionFacts> sessions = Sessions();
  sessions[2].ended = false;
  const std::vector<Choice> captures = ChoicesOf(ScopePart::kProcess, {}, sessions, "a", {}, kNow);
  CHECK(captures[0].session == "c");
  CHECK(captures[0].live);
  const std::vector<Choice> projects = ChoicesOf(ScopePart::kProject, {}, sessions, "a", {}, kNow);
  CHECK(projects[1].title == "default");
  CHECK(projects[1].live);
  CHECK(projects[1].detail == "1 capture · 100 events · 1 KB · running");
}

TEST_CASE("ranges of time say what lies in them") {
  const std::vector<SessionFacts> sessions = Sessions();
  const std::vector<Choice> times = ChoicesOf(ScopePart::kTime, {}, sessions, "a",
                                              {kNow - 60 * kSecond, kNow - 59 * kSecond}, kNow);
  REQUIRE(times.size() == 5);
  CHECK(times[0].chosen);
  CHECK(times[0].detail.starts_with("3 captures"));
  CHECK(times[1].title == "last 10 min");
  CHECK(times[1].detail.starts_with("1 capture ·"));
  CHECK(times[2].detail.starts_with("2 captures"));
  CHECK(times[4].title.starts_with("window in sight: "));
  CHECK(times[4].scope.time.exact.start_ns == kNow - 60 * kSecond);
}

TEST_CASE("a range is read with and without days") {
  const auto short_range = ParseClockRange(" 14:02..14:12:30 ", kNow);
  REQUIRE(short_range.ok());
  CHECK(short_range->end_ns - short_range->start_ns == (10 * 60 + 30) * kSecond);
  const auto days = ParseClockRange("2023-11-14 23:00..2023-11-15 01:00", kNow);
  REQUIRE(days.ok());
  CHECK(days->end_ns - days->start_ns == 2 * 3'600 * kSecond);
  for (const char* bad : {"", "14:02", "14:12..14:02", "14:02..", "a..b", "14:02..14:03..14:04"}) {
    CHECK_FALSE(ParseClockRange(bad, kNow).ok());
  }
}

TEST_CASE("typed words narrow a list, whatever their case and order") {
  const Choice choice{.title = "python3 train.py · 4121", .detail = "14:02 · 12 events"};
  CHECK(Matches(choice, ""));
  CHECK(Matches(choice, "TRAIN 4121"));
  CHECK(Matches(choice, "events py"));
  CHECK_FALSE(Matches(choice, "train embed"));
}

TEST_CASE("arrows move through the matches, Enter takes one, Escape none") {
  std::vector<Choice> choices;
  for (int i = 0; i < 30; ++i) choices.push_back({.title = "host " + std::to_string(i)});
  choices[3].chosen = true;
  ScopePicker picker;
  picker.Open(ScopePart::kHost);
  picker.SetChoices(choices);
  CHECK(picker.cursor() == 3);
  CHECK_FALSE(picker.Step(Pressing(Key::kDown, 9)).has_value());
  CHECK(picker.cursor() == 12);
  CHECK(picker.first() == 12 - ScopePicker::kRows + 1);  // in sight
  picker.Step(Pressing(Key::kPageDown, 9));
  CHECK(picker.cursor() == 29);
  picker.Step(Pressing(Key::kUp));
  CHECK(picker.cursor() == 28);
  picker.text() = "host 2";
  picker.Step({});
  CHECK(picker.matching().size() == 12);  // 2, 12, 20 to 29
  CHECK(picker.cursor() == 0);
  const auto taken = picker.Step(Pressing(Key::kEnter));
  REQUIRE(taken.has_value());
  CHECK(taken->title == "host 2");
  CHECK_FALSE(picker.open());
  picker.Open(ScopePart::kHost);
  picker.SetChoices(choices);
  CHECK(picker.text().empty());
  CHECK_FALSE(picker.Step(Pressing(Key::kEscape)).has_value());
  CHECK_FALSE(picker.open());
}

TEST_CASE("the cursor stays at its choice when the list grows above it") {
  const auto capture = [](const std::string& id) { return Choice{.title = id, .session = id}; };
  ScopePicker picker;
  picker.Open(ScopePart::kProcess);
  picker.SetChoices({capture("a"), capture("b"), capture("c")});
  picker.Step(Pressing(Key::kDown));
  picker.SetChoices({capture("new"), capture("a"), capture("b"), capture("c")});
  CHECK(picker.choices()[picker.matching()[picker.cursor()]].session == "b");
  picker.SetChoices({capture("new")});
  CHECK(picker.cursor() == 0);
  picker.SetChoices({});
  CHECK_FALSE(picker.Step(Pressing(Key::kEnter)).has_value());
  CHECK_FALSE(picker.Take(0).has_value());
}

}  // namespace nanolane::desktop
