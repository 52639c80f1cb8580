#include "services/store/paging.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "libs/base/str_cat.h"

namespace nanolane::store {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1'000;

}  // namespace

PageStart PageStart::Of(const SessionSummary& summary) {
  return {.created_unix_ns = summary.created_unix_ns(),
          .session_id = summary.session().session_id()};
}

bool PageStart::operator<(const PageStart& other) const {
  if (created_unix_ns != other.created_unix_ns) return created_unix_ns > other.created_unix_ns;
  return session_id < other.session_id;
}

std::string PageStart::Token() const { return base::StrCat(created_unix_ns, "-", session_id); }

absl::StatusOr<PageStart> ParsePageToken(const std::string& token) {
  PageStart start{.created_unix_ns = std::numeric_limits<int64_t>::max(), .session_id = ""};
  if (token.empty()) return start;
  const size_t dash = token.find('-', 1);
  if (dash == std::string::npos ||
      !absl::SimpleAtoi(token.substr(0, dash), &start.created_unix_ns)) {
    return absl::InvalidArgumentError(
        base::StrCat("bad page token \"", token, "\": pass on next_page_token as it came"));
  }
  start.session_id = token.substr(dash + 1);
  return start;
}

int PageSize(int asked) { return asked <= 0 ? kDefaultPage : std::min(asked, kLargestPage); }

bool Matches(const SessionSummary& summary, const v1::ListSessionsRequest& request) {
  return (request.project().empty() || request.project() == summary.session().project()) &&
         (request.host().empty() || request.host() == summary.session().host());
}

bool Wants(const v1::ReadBlocksRequest& request, const v1::StoredBlock& block) {
  const auto& lanes = request.lane_ids();
  if (!lanes.empty() && std::find(lanes.begin(), lanes.end(), block.lane_id()) == lanes.end()) {
    return false;
  }
  if (!request.has_window()) return true;
  return block.start_ns() < request.window().end_ns() &&
         block.end_ns() >= request.window().start_ns();
}

absl::Status NoSuchSession(const std::string& session_id) {
  return absl::NotFoundError(
      base::StrCat("there is no session ", session_id, "; \"nanolane ls\" lists those there are"));
}

absl::Status CheckSessionId(const std::string& session_id) {
  const bool hexadecimal = std::all_of(session_id.begin(), session_id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (session_id.size() == 32 && hexadecimal) return absl::OkStatus();
  return absl::InvalidArgumentError(
      base::StrCat("bad session id \"", session_id, "\": it is 32 hexadecimal digits"));
}

}  // namespace nanolane::store
