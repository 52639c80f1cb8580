#include "clients/desktop/model/scope.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

bool UsesGpu(const SessionFacts& session, const std::string& name) {
  return std::any_of(session.gpus.begin(), session.gpus.end(),
                     [&](const GpuFacts& gpu) { return gpu.name == name; });
}

void Clear(Scope& scope, ScopePart part) {
  switch (part) {
    case ScopePart::kProject: scope.project.reset(); return;
    case ScopePart::kHost: scope.host.reset(); return;
    case ScopePart::kProcess: scope.process.reset(); return;
    case ScopePart::kGpu: scope.gpu.reset(); return;
    case ScopePart::kTime: scope.time = {}; return;
  }
}

}  // namespace

std::string ProjectOf(const SessionFacts& session) {
  return session.project.empty() ? "default" : session.project;
}

ProcessKey ProcessOf(const SessionFacts& session) {
  return {session.host, session.executable, session.pid};
}

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string ProcessText(const SessionFacts& session) {
  std::string text = BaseName(session.executable);
  if (session.command_line.size() > 1) {
    absl::StrAppend(&text, text.empty() ? "" : " ", BaseName(session.command_line[1]));
  }
  if (text.empty()) text = "process";
  if (session.pid != 0) absl::StrAppend(&text, " · ", session.pid);
  return text;
}

timeline::Window UnixExtent(const SessionFacts& session) {
  if (session.events == 0) return {session.changed_unix_ns, session.changed_unix_ns};
  const Wide offset = session.unix_offset_known ? session.unix_offset_ns : 0;
  return {ClampToInt64(session.start_ns + offset), ClampToInt64(session.end_ns + offset)};
}

std::optional<timeline::Window> RangeOf(const TimeChoice& time, int64_t now_unix_ns) {
  switch (time.kind) {
    case TimeChoice::Kind::kAll: return std::nullopt;
    case TimeChoice::Kind::kLast:
      return timeline::Window{ClampToInt64(static_cast<Wide>(now_unix_ns) - time.last_ns),
                              now_unix_ns};
    case TimeChoice::Kind::kExact: return time.exact;
  }
  return std::nullopt;
}

bool Selects(const Scope& scope, const SessionFacts& session, int64_t now_unix_ns) {
  if (scope.project.has_value() && *scope.project != ProjectOf(session)) return false;
  if (scope.host.has_value() && *scope.host != session.host) return false;
  if (scope.process.has_value() && !(*scope.process == ProcessOf(session))) return false;
  if (scope.gpu.has_value() && !UsesGpu(session, *scope.gpu)) return false;
  const std::optional<timeline::Window> range = RangeOf(scope.time, now_unix_ns);
  if (!range.has_value()) return true;
  const timeline::Window extent = UnixExtent(session);
  return extent.start_ns <= range->end_ns && extent.end_ns >= range->start_ns;
}

std::vector<size_t> Selected(const Scope& scope, const std::vector<SessionFacts>& sessions,
                             int64_t now_unix_ns) {
  std::vector<size_t> selected;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (Selects(scope, sessions[i], now_unix_ns)) selected.push_back(i);
  }
  return selected;
}

Scope ScopeOf(const SessionFacts& session) {
  return {.project = ProjectOf(session),
          .host = session.host,
          .process = ProcessOf(session),
          .gpu = std::nullopt,
          .time = {}};
}

Scope Widened(Scope scope, ScopePart keep, const std::vector<SessionFacts>& sessions,
              int64_t now_unix_ns) {
  for (const ScopePart part : {ScopePart::kProcess, ScopePart::kGpu, ScopePart::kHost,
                               ScopePart::kTime, ScopePart::kProject}) {
    if (!Selected(scope, sessions, now_unix_ns).empty()) break;
    if (part != keep) Clear(scope, part);
  }
  return scope;
}

}  // namespace nanolane::desktop
