#include "services/store/retention.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::store {
namespace {

constexpr std::chrono::seconds kBetweenRounds(60);

absl::Status BadRetention(std::string_view text) {
  return absl::InvalidArgumentError(
      base::StrCat("bad retention \"", text,
                   "\": write age=7d, bytes=10GB or both, as in age=7d,bytes=10GB "
                   "(ages in s, m, h, d; sizes in MB, GB, TB)"));
}

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr uint64_t kSecond = 1'000'000'000;
constexpr Unit kAgeUnits[] = {
    {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3'600 * kSecond}, {"d", 86'400 * kSecond}};
constexpr Unit kByteUnits[] = {{"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}};

// A whole number and a unit; false: neither, zero, or too large.
bool ParseQuantity(std::string_view text, std::span<const Unit> units, uint64_t& value) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    uint64_t number = 0;
    const std::string digits(text.substr(0, text.size() - unit.name.size()));
    if (!absl::SimpleAtoi(digits, &number) || number == 0) continue;
    return !__builtin_mul_overflow(number, unit.factor, &value) &&
           value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  }
  return false;
}

bool IsBeingWritten(const SessionSummary& summary, int64_t now_unix_ns) {
  return !summary.session().ended() && now_unix_ns - summary.changed_unix_ns() < kWrittenNs;
}

// Adds those of `sessions` (oldest first) that limits do not allow to `doomed`.
void Choose(const std::vector<const SessionSummary*>& sessions, const RetentionLimits& limits,
            int64_t now_unix_ns, std::set<std::string>& doomed) {
  uint64_t kept_bytes = 0;
  for (const SessionSummary* summary : sessions) {
    if (!doomed.contains(summary->session().session_id())) kept_bytes += StoredBytesOf(*summary);
  }
  for (const SessionSummary* summary : sessions) {
    const std::string& id = summary->session().session_id();
    if (doomed.contains(id) || IsBeingWritten(*summary, now_unix_ns)) continue;
    const bool old =
        limits.max_age_ns > 0 && now_unix_ns - summary->changed_unix_ns() > limits.max_age_ns;
    const bool large = limits.max_bytes > 0 && kept_bytes > limits.max_bytes;
    if (!old && !large) continue;
    kept_bytes -= StoredBytesOf(*summary);
    doomed.insert(id);
  }
}

}  // namespace

absl::StatusOr<RetentionLimits> ParseRetention(std::string_view text) {
  RetentionLimits limits;
  for (const auto part : absl::StrSplit(base::ToAbsl(text), ',')) {
    const std::string_view limit(part.data(), part.size());
    uint64_t value = 0;
    if (limit.starts_with("age=") && ParseQuantity(limit.substr(4), kAgeUnits, value)) {
      limits.max_age_ns = static_cast<int64_t>(value);
    } else if (limit.starts_with("bytes=") && ParseQuantity(limit.substr(6), kByteUnits, value)) {
      limits.max_bytes = value;
    } else {
      return BadRetention(text);
    }
  }
  return limits;
}

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  uint64_t bytes = 0;
  if (ParseQuantity(text, kByteUnits, bytes)) return bytes;
  return absl::InvalidArgumentError(
      base::StrCat("bad size \"", text, "\": write a number with MB, GB or TB, such as 500GB"));
}

std::vector<std::string> SessionsToDelete(const std::vector<SessionSummary>& sessions,
                                          const RetentionPolicy& policy, int64_t now_unix_ns) {
  std::vector<const SessionSummary*> oldest;
  for (const SessionSummary& summary : sessions) oldest.push_back(&summary);
  std::sort(oldest.begin(), oldest.end(), [](const SessionSummary* a, const SessionSummary* b) {
    return std::make_pair(a->changed_unix_ns(), a->session().session_id()) <
           std::make_pair(b->changed_unix_ns(), b->session().session_id());
  });
  std::set<std::string> doomed;
  for (const auto& [project, limits] : policy.projects) {
    std::vector<const SessionSummary*> of_project;
    std::copy_if(
        oldest.begin(), oldest.end(), std::back_inserter(of_project),
        [&](const SessionSummary* summary) { return summary->session().project() == project; });
    Choose(of_project, limits, now_unix_ns, doomed);
  }
  Choose(oldest, policy.all, now_unix_ns, doomed);
  std::vector<std::string> ids;
  for (const SessionSummary* summary : oldest) {
    if (doomed.contains(summary->session().session_id())) {
      ids.push_back(summary->session().session_id());
    }
  }
  return ids;
}

absl::Status DeleteSession(Store& store, Committer& committer, const std::string& session_id) {
  RETURN_IF_ERROR(committer.RunExclusive(session_id, [&] { return store.Delete(session_id); }));
  // Not on the committer's thread: appends go on meanwhile.
  store.Reclaim(session_id);
  return absl::OkStatus();
}

Retention::Retention(Store& store, Committer& committer, RetentionPolicy policy,
                     const base::Clock& clock)
    : store_(store), committer_(committer), policy_(std::move(policy)), clock_(clock) {
  if (policy_.bounded()) thread_ = std::thread([this] { Run(); });
}

Retention::~Retention() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<int> Retention::RunOnce() {
  std::vector<SessionSummary> sessions;
  v1::ListSessionsRequest request;
  request.set_page_size(1'000);
  do {
    ASSIGN_OR_RETURN(v1::ListSessionsResponse page, store_.ListSessions(request));
    for (SessionSummary& summary : *page.mutable_sessions()) {
      sessions.push_back(std::move(summary));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  int deleted = 0;
  for (const std::string& id : SessionsToDelete(sessions, policy_, clock_.UnixNanos())) {
    RETURN_IF_ERROR(DeleteSession(store_, committer_, id));
    base::LogInfo("store", base::StrCat("deleted session ", id, ": retention"));
    ++deleted;
  }
  return deleted;
}

void Retention::Run() {
  while (true) {
    const auto deleted = RunOnce();
    if (!deleted.ok()) {
      base::LogError("store", base::StrCat("retention: ", deleted.status().message()));
    }
    base::MutexLock lock(mutex_);
    const bool stop = changed_.WaitFor(
        mutex_, kBetweenRounds, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; });
    if (stop) return;
  }
}

}  // namespace nanolane::store
