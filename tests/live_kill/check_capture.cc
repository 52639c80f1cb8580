#include "tests/live_kill/check_capture.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/numbers.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

using trace::EventKind;
using ByKind = std::map<EventKind, uint64_t>;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
// Between the first callback that is on and the moment from which everything is.
constexpr int64_t kTurningOnNs = 1'000'000'000;
constexpr size_t kMostProblems = 12;

bool IsDeviceWork(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
}

class Check {
 public:
  Check(const StoredSession& session, const ProgramTruth& truth,
        const CaptureExpectation& expectation)
      : session_(session), truth_(truth), expectation_(expectation) {
    on_ns_ = Label("capture.on_ns", 0);
    off_ns_ = Label("capture.off_ns", kNever);
  }

  CaptureVerdict Run();

 private:
  struct Seen {
    ByKind events;
    std::set<std::pair<EventKind, uint64_t>> nodes;
  };

  void Say(const std::string& what) {
    if (verdict_.problems.size() < kMostProblems) {
      verdict_.problems.push_back(
          base::StrCat("session ", session_.summary.session().session_id(), ": ", what));
    }
  }
  int64_t Label(const std::string& name, int64_t otherwise) const;
  static std::string Text(const StoredEvent& stored);
  // Whether the call certainly was, or may have been, within the capture.
  bool Within(int64_t before_ns, int64_t after_ns) const {
    return before_ns >= on_ns_ && after_ns < off_ns_;
  }
  bool MayBeWithin(int64_t before_ns, int64_t after_ns) const {
    return after_ns >= on_ns_ - kTurningOnNs && before_ns <= off_ns_;
  }

  void TakeCall(const StoredEvent& stored);
  void TakeUnknown(const StoredEvent& stored);
  void CheckLaunch(const StoredEvent& stored, const TrueCall& call);
  void TakeRange(const StoredEvent& stored);
  void CountCalls();
  void CountRanges();
  void NoteMissing(const std::string& what, uint64_t thread, int64_t before_ns);
  void CheckSums();
  void CheckSession();

  const StoredSession& session_;
  const ProgramTruth& truth_;
  const CaptureExpectation& expectation_;
  int64_t on_ns_ = 0;
  int64_t off_ns_ = 0;
  std::unordered_map<uint64_t, Seen> calls_;                // by correlation
  std::map<std::pair<uint64_t, size_t>, uint32_t> ranges_;  // thread, index
  std::set<std::tuple<uint64_t, int64_t, int64_t, std::string>> range_keys_;
  ByKind missing_;      // of what was certainly within
  ByKind may_missing_;  // of what may have been
  uint64_t unknown_ = 0;
  int64_t first_missing_ns_ = 0;
  std::string first_missing_;
  CaptureVerdict verdict_;
};

int64_t Check::Label(const std::string& name, int64_t otherwise) const {
  const auto& labels = session_.summary.session().labels();
  const auto found = labels.find(name);
  int64_t value = 0;
  return found != labels.end() && absl::SimpleAtoi(found->second, &value) ? value : otherwise;
}

std::string Check::Text(const StoredEvent& stored) {
  const trace::Event& event = stored.event;
  return base::StrCat("kind ", static_cast<int>(stored.kind), " \"", stored.name, "\" start ",
                      event.start_ns, " duration ", event.duration_ns, " thread ", event.thread,
                      " correlation ", event.correlation, " node ", event.graph_node, " epoch ",
                      stored.epoch);
}

void Check::TakeCall(const StoredEvent& stored) {
  const trace::Event& event = stored.event;
  Seen& seen = calls_[event.correlation];
  if (!seen.nodes.emplace(stored.kind, event.graph_node).second) {
    Say(base::StrCat("stored twice: ", Text(stored)));
    return;
  }
  const auto found = truth_.calls.find(event.correlation);
  if (found == truth_.calls.end()) return TakeUnknown(stored);
  const TrueCall& call = found->second;
  const auto expected = call.events.find(stored.kind);
  const uint64_t count = ++seen.events[stored.kind];
  if (expected == call.events.end() || count > expected->second) {
    Say(base::StrCat("the call made no such event: ", Text(stored)));
  }
  const bool named = stored.kind == EventKind::kKernel && event.graph_node == 0;
  if (named && stored.name != call.name) {
    Say(base::StrCat("has the name of another, not ", call.name, ": ", Text(stored)));
  }
  if (!MayBeWithin(call.before_ns, call.after_ns)) {
    Say(base::StrCat("outside of the capture: ", Text(stored)));
  }
  if (IsDeviceWork(stored.kind)) CheckLaunch(stored, call);
}

// What a killed process did last is not in its truth.
void Check::TakeUnknown(const StoredEvent& stored) {
  ++unknown_;
  const bool may_be = !expectation_.lived && stored.event.start_ns >= truth_.known_until_ns;
  if (!may_be) Say(base::StrCat("was never done: ", Text(stored)));
}

void Check::CheckLaunch(const StoredEvent& stored, const TrueCall& call) {
  const trace::Event& event = stored.event;
  if (event.launch_start_ns == trace::kNoTime) {
    ++verdict_.unlaunched;
    return;
  }
  const bool is_its = event.thread == call.thread && event.launch_start_ns >= call.before_ns &&
                      event.launch_start_ns <= call.after_ns;
  if (!is_its) Say(base::StrCat("has the launch of another: ", Text(stored)));
}

void Check::TakeRange(const StoredEvent& stored) {
  const trace::Event& event = stored.event;
  if (!range_keys_.emplace(event.thread, event.start_ns, event.duration_ns, stored.name).second) {
    Say(base::StrCat("stored twice: ", Text(stored)));
    return;
  }
  const auto thread = truth_.ranges.find(event.thread);
  if (thread == truth_.ranges.end()) return TakeUnknown(stored);
  const std::vector<TrueRange>& ranges = thread->second;
  auto next = std::upper_bound(
      ranges.begin(), ranges.end(), event.start_ns,
      [](int64_t start_ns, const TrueRange& range) { return start_ns < range.begin_before_ns; });
  // The one that began just then, or the one that was open when the capture began.
  while (next != ranges.begin()) {
    const TrueRange& range = *--next;
    const bool began = event.start_ns <= range.begin_after_ns;
    const bool was_open = event.start_ns <= on_ns_ && event.start_ns <= range.end_after_ns;
    // Names are kept of what begins while something records.
    if (!(began && range.name == stored.name) && !was_open) {
      if (event.start_ns - range.begin_before_ns > kTurningOnNs) break;
      continue;
    }
    const auto index = static_cast<size_t>(next - ranges.begin());
    if (++ranges_[{event.thread, index}] > 1) Say(base::StrCat("stored twice: ", Text(stored)));
    if (!MayBeWithin(range.begin_before_ns, range.end_after_ns)) {
      Say(base::StrCat("outside of the capture: ", Text(stored)));
    }
    return;
  }
  TakeUnknown(stored);
}

// The earliest one, for whoever looks for the reason.
void Check::NoteMissing(const std::string& what, uint64_t thread, int64_t before_ns) {
  if (first_missing_ns_ != 0 && before_ns >= first_missing_ns_) return;
  first_missing_ns_ = before_ns;
  first_missing_ =
      base::StrCat(what, " of thread ", thread, ", ", before_ns - on_ns_, " ns after it began");
  if (off_ns_ != kNever)
    first_missing_ += base::StrCat(", ", off_ns_ - before_ns, " before its end");
}

void Check::CountCalls() {
  for (const auto& [correlation, call] : truth_.calls) {
    if (!MayBeWithin(call.before_ns, call.after_ns)) continue;
    const bool within = Within(call.before_ns, call.after_ns);
    const auto seen = calls_.find(correlation);
    for (const auto& [kind, count] : call.events) {
      uint64_t stored = 0;
      if (seen != calls_.end()) {
        const auto of_kind = seen->second.events.find(kind);
        if (of_kind != seen->second.events.end()) stored = of_kind->second;
      }
      may_missing_[kind] += count - std::min<uint64_t>(stored, count);
      if (!within) continue;
      missing_[kind] += count - std::min<uint64_t>(stored, count);
      verdict_.expected += count;
      if (stored < count) {
        NoteMissing(base::StrCat("correlation ", correlation), call.thread, call.before_ns);
      }
    }
  }
}

void Check::CountRanges() {
  for (const auto& [thread, ranges] : truth_.ranges) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const TrueRange& range = ranges[i];
      if (!MayBeWithin(range.begin_before_ns, range.end_after_ns)) continue;
      const bool stored = ranges_.contains({thread, i});
      may_missing_[EventKind::kNvtx] += stored ? 0 : 1;
      if (!range.ended || !Within(range.begin_before_ns, range.end_after_ns)) continue;
      missing_[EventKind::kNvtx] += stored ? 0 : 1;
      ++verdict_.expected;
      if (!stored) NoteMissing(base::StrCat("range ", range.name), thread, range.begin_before_ns);
    }
  }
}

void Check::CheckSums() {
  ByKind lost;
  uint64_t lost_launches = 0;
  for (const auto& loss : session_.summary.session().losses()) {
    const EventKind kind = trace::FromProto(loss.kind());
    lost[kind] += loss.count();
    if (loss.reason().starts_with("launch calls")) lost_launches += loss.count();
  }
  for (const auto& [kind, count] : missing_) {
    verdict_.missing += count;
    if (expectation_.lived && count > lost[kind]) {
      Say(base::StrCat(count, " events of kind ", static_cast<int>(kind), " are missing, and only ",
                       lost[kind], " are counted; first: ", first_missing_));
    }
  }
  for (const auto& [kind, count] : lost) {
    if (kind == EventKind::kUnspecified) continue;
    verdict_.lost += count;
    if (expectation_.lived && count > may_missing_[kind]) {
      Say(base::StrCat(count, " events of kind ", static_cast<int>(kind),
                       " are counted as lost, and at most ", may_missing_[kind], " are missing"));
    }
  }
  if (verdict_.unlaunched > lost_launches) {
    Say(base::StrCat(verdict_.unlaunched, " events lack their launch call, and only ",
                     lost_launches, " are counted"));
  }
}

void Check::CheckSession() {
  const auto& session = session_.summary.session();
  if (!session.ended()) Say("has not ended");
  if (session_.summary.events() != session_.events.size()) {
    Say(base::StrCat("is said to have ", session_.summary.events(), " events and has ",
                     session_.events.size()));
  }
  if (verdict_.stored < expectation_.safe_events) {
    Say(base::StrCat(expectation_.safe_events, " events were said to be safe, ", verdict_.stored,
                     " are stored"));
  }
  if (expectation_.lived && off_ns_ == kNever) Say("does not say when its capture ended");
  const bool noted = std::any_of(session.losses().begin(), session.losses().end(),
                                 [](const trace::v1::Loss& loss) {
                                   return loss.reason().find("(captures)") != std::string::npos;
                                 });
  if (!expectation_.lived && off_ns_ == kNever && !noted) {
    Say("its process was killed, and no loss says so");
  }
  if (unknown_ > expectation_.threads * kEventsPerStep) {
    Say(base::StrCat(unknown_, " events are not in the truth of the killed process"));
  }
}

CaptureVerdict Check::Run() {
  verdict_.stored = session_.events.size();
  for (const StoredEvent& stored : session_.events) {
    if (IsDeviceWork(stored.kind) || stored.kind == EventKind::kSync) TakeCall(stored);
    if (stored.kind == EventKind::kNvtx) TakeRange(stored);
  }
  if (on_ns_ != 0) {
    CountCalls();
    CountRanges();
  }
  CheckSums();
  CheckSession();
  return verdict_;
}

}  // namespace

CaptureVerdict CheckCapture(const StoredSession& session, const ProgramTruth& truth,
                            const CaptureExpectation& expectation) {
  return Check(session, truth, expectation).Run();
}

}  // namespace nanolane::testing
