// What each scope picker offers: the projects, hosts, captures, GPUs and ranges of time that there
// are, with what each of them has. A picker lists what the wider parts of the scope leave: hosts
// are those of the chosen project, captures those of project, host, GPU and time. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/desktop/model/scope.h"

namespace nanolane::desktop {

struct Choice {
  std::string title;
  std::string detail;   // sizes and times
  bool live = false;    // something in it is being recorded
  bool chosen = false;  // it is what is being looked at
  bool empty = false;   // nothing lies there
  Scope scope;          // when this is chosen
  std::string session;  // a capture's id: it is opened; empty: none is named
};

// In the order in which they are shown: first what does not narrow, then the newest first.
// `shown` is the id of the session in sight; `sight` its part in sight, Unix time, may be empty.
std::vector<Choice> ChoicesOf(ScopePart part, const Scope& scope,
                              const std::vector<SessionFacts>& sessions, const std::string& shown,
                              const timeline::Window& sight, int64_t now_unix_ns);

// Whether each of the words in `text` is in the choice's title or detail; case does not matter.
bool Matches(const Choice& choice, std::string_view text);

// "14:02..14:12:30" in local time of the day of `day_unix_ns`, or with dates:
// "2026-11-30 14:02..2026-12-01 09:00". INVALID_ARGUMENT says how to write it.
absl::StatusOr<timeline::Window> ParseClockRange(std::string_view text, int64_t day_unix_ns);

// "14:02:11 – 14:12:11"; with the day where it is not that of `now_unix_ns`.
std::string ClockRangeText(const timeline::Window& unix_window, int64_t now_unix_ns);

}  // namespace nanolane::desktop
