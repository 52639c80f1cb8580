#include "clients/desktop/model/scope_choices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;

// What several sessions have together.
struct Sum {
  size_t sessions = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
  int64_t newest_unix_ns = 0;
  bool live = false;

  void Add(const SessionFacts& session) {
    ++sessions;
    events += session.events;
    bytes += session.stored_bytes;
    newest_unix_ns = std::max(newest_unix_ns, UnixExtent(session).end_ns);
    live = live || !session.ended;
  }
};

std::string Local(const char* format, int64_t unix_ns) {
  const std::string text =
      absl::FormatTime(format, absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
  return std::string(absl::StripLeadingAsciiWhitespace(text));
}

// "2 min ago", "3 h ago", "29 Nov".
std::string AgoText(int64_t unix_ns, int64_t now_unix_ns) {
  if (unix_ns <= 0) return "time not known";
  const int64_t ago = ClampToInt64(static_cast<Wide>(now_unix_ns) - unix_ns);
  if (ago < kMinute) return "just now";
  if (ago < 60 * kMinute) return absl::StrCat(ago / kMinute, " min ago");
  if (ago < 24 * 60 * kMinute) return absl::StrCat(ago / (60 * kMinute), " h ago");
  return Local("%e %b %Y", unix_ns);
}

std::string Counted(uint64_t count, const char* one, const char* many) {
  return absl::StrCat(base::GroupedCount(count), " ", count == 1 ? one : many);
}

std::string SumText(const Sum& sum, int64_t now_unix_ns) {
  if (sum.sessions == 0) return "nothing there";
  return absl::StrCat(Counted(sum.sessions, "capture", "captures"), " · ",
                      Counted(sum.events, "event", "events"), " · ",
                      BytesText(ClampToInt64(sum.bytes)), " · ",
                      sum.live ? "running" : AgoText(sum.newest_unix_ns, now_unix_ns));
}

// The scope without the parts that narrow what `part` chooses from.
Scope Wider(const Scope& scope, ScopePart part) {
  Scope wider = scope;
  switch (part) {
    case ScopePart::kProject: return {};
    case ScopePart::kHost:
      wider.host.reset();
      wider.process.reset();
      return wider;
    case ScopePart::kProcess: wider.process.reset(); return wider;
    case ScopePart::kGpu:
      wider.gpu.reset();
      wider.process.reset();
      return wider;
    case ScopePart::kTime: wider.time = {}; return wider;
  }
  return wider;
}

class Lister {
 public:
  Lister(ScopePart part, const Scope& scope, const std::vector<SessionFacts>& sessions,
         int64_t now_unix_ns)
      : scope_(scope), wider_(Wider(scope, part)), sessions_(sessions), now_unix_ns_(now_unix_ns) {
    selected_ = Selected(wider_, sessions, now_unix_ns);
  }

  // One choice for all, then one for each name that `names_of` finds.
  template <typename NamesOf, typename Set>
  std::vector<Choice> ByName(const char* all, const std::optional<std::string>& now,
                             const NamesOf& names_of, const Set& set) const {
    Sum whole;
    std::map<std::string, Sum> sums;
    for (const size_t i : selected_) {
      whole.Add(sessions_[i]);
      for (const std::string& name : names_of(sessions_[i])) sums[name].Add(sessions_[i]);
    }
    std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.live, a.second.newest_unix_ns) >
             std::pair(b.second.live, b.second.newest_unix_ns);
    });
    std::vector<Choice> choices;
    const auto add = [&](const std::string& title, const Sum& sum,
                         const std::optional<std::string>& value) {
      Scope scope = scope_;
      scope.process.reset();
      set(scope, value);
      choices.push_back({.title = title,
                         .detail = SumText(sum, now_unix_ns_),
                         .live = sum.live,
                         .chosen = now == value,
                         .empty = sum.events == 0,
                         .scope = std::move(scope),
                         .session = ""});
    };
    add(all, whole, std::nullopt);
    for (const auto& [name, sum] : order) {
      add(name.empty() ? "host not known" : name, sum, name);
    }
    return choices;
  }

  std::vector<Choice> Captures(const std::string& shown) const {
    std::vector<size_t> order = selected_;
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      const SessionFacts& x = sessions_[a];
      const SessionFacts& y = sessions_[b];
      return std::pair(!x.ended, UnixExtent(x).start_ns) >
             std::pair(!y.ended, UnixExtent(y).start_ns);
    });
    std::vector<Choice> choices;
    for (const size_t i : order) {
      const SessionFacts& session = sessions_[i];
      Scope scope = scope_;
      scope.process = ProcessOf(session);
      choices.push_back({.title = ProcessText(session),
                         .detail = CaptureText(session),
                         .live = !session.ended,
                         .chosen = session.id == shown,
                         .empty = session.events == 0,
                         .scope = std::move(scope),
                         .session = session.id});
    }
    return choices;
  }

  Choice Time(const std::string& title, const TimeChoice& time) const {
    Scope scope = scope_;
    scope.time = time;
    Sum sum;
    for (const size_t i : selected_) {
      if (Selects(scope, sessions_[i], now_unix_ns_)) sum.Add(sessions_[i]);
    }
    return {.title = title,
            .detail = SumText(sum, now_unix_ns_),
            .live = sum.live,
            .chosen = scope_.time == time,
            .empty = sum.events == 0,
            .scope = std::move(scope),
            .session = ""};
  }

 private:
  std::string CaptureText(const SessionFacts& session) const {
    const timeline::Window extent = UnixExtent(session);
    const std::string when = session.unix_offset_known || session.events == 0
                                 ? ClockRangeText(extent, now_unix_ns_)
                                 : "time not known";
    if (session.events == 0) return absl::StrCat("no events · ", when);
    return absl::StrCat(when, " · ", base::FormatDuration(ClampToInt64(SpanOf(extent))), " · ",
                        Counted(session.events, "event", "events"), " · ",
                        BytesText(ClampToInt64(session.stored_bytes)));
  }

  const Scope& scope_;
  const Scope wider_;
  const std::vector<SessionFacts>& sessions_;
  const int64_t now_unix_ns_;
  std::vector<size_t> selected_;
};

}  // namespace

std::vector<Choice> ChoicesOf(ScopePart part, const Scope& scope,
                              const std::vector<SessionFacts>& sessions, const std::string& shown,
                              const timeline::Window& sight, int64_t now_unix_ns) {
  const Lister lister(part, scope, sessions, now_unix_ns);
  using Names = std::vector<std::string>;
  switch (part) {
    case ScopePart::kProject:
      return lister.ByName(
          "all projects", scope.project,
          [](const SessionFacts& session) { return Names{ProjectOf(session)}; },
          [](Scope& to, const std::optional<std::string>& name) {
            to.project = name;
            to.host.reset();
          });
    case ScopePart::kHost:
      return lister.ByName(
          "all hosts", scope.host, [](const SessionFacts& session) { return Names{session.host}; },
          [](Scope& to, const std::optional<std::string>& name) { to.host = name; });
    case ScopePart::kGpu:
      return lister.ByName(
          "all GPUs", scope.gpu,
          [](const SessionFacts& session) {
            Names names;
            for (const GpuFacts& gpu : session.gpus) {
              const bool known = std::find(names.begin(), names.end(), gpu.name) != names.end();
              if (!known && !gpu.name.empty()) names.push_back(gpu.name);
            }
            return names;
          },
          [](Scope& to, const std::optional<std::string>& name) { to.gpu = name; });
    case ScopePart::kProcess: return lister.Captures(shown);
    case ScopePart::kTime: break;
  }
  const auto last = [](int64_t ns) {
    return TimeChoice{.kind = TimeChoice::Kind::kLast, .last_ns = ns, .exact = {}};
  };
  std::vector<Choice> choices = {lister.Time("all", {}),
                                 lister.Time("last 10 min", last(10 * kMinute)),
                                 lister.Time("last 1 h", last(60 * kMinute)),
                                 lister.Time("last 1 day", last(24 * 60 * kMinute))};
  const auto exact = [](const timeline::Window& window) {
    return TimeChoice{.kind = TimeChoice::Kind::kExact, .last_ns = 0, .exact = window};
  };
  if (sight.end_ns > sight.start_ns) {
    choices.push_back(lister.Time(
        absl::StrCat("window in sight: ", ClockRangeText(sight, now_unix_ns)), exact(sight)));
  }
  if (scope.time.kind == TimeChoice::Kind::kExact) {
    choices.push_back(
        lister.Time(ClockRangeText(scope.time.exact, now_unix_ns), exact(scope.time.exact)));
  }
  return choices;
}

bool Matches(const Choice& choice, std::string_view text) {
  const std::string all = absl::AsciiStrToLower(absl::StrCat(choice.title, " ", choice.detail));
  const std::string lower = absl::AsciiStrToLower(std::string(text));
  const std::vector<std::string> words = absl::StrSplit(lower, ' ', absl::SkipEmpty());
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return all.find(word) != std::string::npos; });
}

absl::StatusOr<timeline::Window> ParseClockRange(std::string_view text, int64_t day_unix_ns) {
  const std::string whole(text);
  const std::vector<std::string> ends = absl::StrSplit(whole, "..");
  const auto parse = [&](const std::string& end) -> std::optional<int64_t> {
    std::string stripped(absl::StripAsciiWhitespace(end));
    if (stripped.find('-') == std::string::npos) {
      stripped = absl::StrCat(Local("%Y-%m-%d ", day_unix_ns), stripped);
    }
    for (const char* format : {"%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d %H:%M"}) {
      absl::Time time;
      if (absl::ParseTime(format, stripped, absl::LocalTimeZone(), &time, nullptr)) {
        return absl::ToUnixNanos(time);
      }
    }
    return std::nullopt;
  };
  if (ends.size() == 2) {
    const std::optional<int64_t> from = parse(ends[0]);
    const std::optional<int64_t> to = parse(ends[1]);
    if (from.has_value() && to.has_value() && *from < *to) return timeline::Window{*from, *to};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bad range \"", whole, "\": write 14:02..14:12 or 2026-11-30 14:02..2026-11-30 15:00"));
}

std::string ClockRangeText(const timeline::Window& unix_window, int64_t now_unix_ns) {
  const std::string day = Local("%e %b %Y", unix_window.start_ns);
  const std::string from = Local("%H:%M:%S", unix_window.start_ns);
  const std::string to = Local("%H:%M:%S", unix_window.end_ns);
  const std::string last_day = Local("%e %b %Y", unix_window.end_ns);
  const std::string before = day == Local("%e %b %Y", now_unix_ns) ? "" : absl::StrCat(day, " ");
  if (day != last_day) return absl::StrCat(before, from, " – ", last_day, " ", to);
  return from == to ? absl::StrCat(before, from) : absl::StrCat(before, from, " – ", to);
}

}  // namespace nanolane::desktop
