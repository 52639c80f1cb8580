#include "services/query/scope.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::query {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1'000;

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool HasGpu(const nanolane::trace::v1::Session& session, const std::string& gpu) {
  return std::any_of(session.gpus().begin(), session.gpus().end(),
                     [&](const auto& has) { return has.uuid() == gpu || has.name() == gpu; });
}

absl::StatusOr<v1::ListSessionsResponse> ListByIds(const v1::Scope& scope, StoreReader& store) {
  v1::ListSessionsResponse response;
  for (const std::string& id : scope.session_ids()) {
    ASSIGN_OR_RETURN(*response.add_sessions(), store.GetSession(id));
  }
  return response;
}

}  // namespace

bool InScope(const SessionSummary& summary, const v1::Scope& scope) {
  const nanolane::trace::v1::Session& session = summary.session();
  if (!scope.project().empty() && scope.project() != session.project()) return false;
  if (!scope.host().empty() && scope.host() != session.host()) return false;
  if (scope.pid() != 0 && scope.pid() != session.pid()) return false;
  if (!scope.process().empty() && scope.process() != BaseName(session.executable())) return false;
  if (!scope.gpu().empty() && !HasGpu(session, scope.gpu())) return false;
  return std::all_of(scope.labels().begin(), scope.labels().end(), [&](const auto& label) {
    const auto found = session.labels().find(label.first);
    return found != session.labels().end() && found->second == label.second;
  });
}

absl::StatusOr<v1::ListSessionsResponse> ListSessions(const v1::ListSessionsRequest& request,
                                                      StoreReader& store) {
  if (request.scope().session_ids_size() > kMaxSessions) {
    return absl::InvalidArgumentError(
        base::StrCat("at most ", kMaxSessions, " sessions at once; ask for fewer"));
  }
  if (request.scope().session_ids_size() > 0) return ListByIds(request.scope(), store);
  const int wanted =
      request.page_size() <= 0 ? kDefaultPage : std::min(request.page_size(), kLargestPage);
  v1::ListSessionsResponse response;
  nanolane::store::v1::ListSessionsRequest page;
  page.set_project(request.scope().project());
  page.set_host(request.scope().host());
  page.set_page_token(request.page_token());
  do {
    // Never more than what is missing, so that the store's token is ours too.
    page.set_page_size(wanted - response.sessions_size());
    ASSIGN_OR_RETURN(auto listed, store.ListSessions(page));
    for (SessionSummary& summary : *listed.mutable_sessions()) {
      if (InScope(summary, request.scope())) *response.add_sessions() = std::move(summary);
    }
    page.set_page_token(listed.next_page_token());
  } while (!page.page_token().empty() && response.sessions_size() < wanted);
  response.set_next_page_token(page.page_token());
  return response;
}

absl::StatusOr<std::vector<SessionSummary>> SelectSessions(const v1::Scope& scope,
                                                           StoreReader& store) {
  v1::ListSessionsRequest request;
  *request.mutable_scope() = scope;
  request.set_page_size(kMaxSessions);
  ASSIGN_OR_RETURN(auto listed, ListSessions(request, store));
  if (!listed.next_page_token().empty()) {
    return absl::InvalidArgumentError(
        base::StrCat("the scope selects more than ", kMaxSessions,
                     " sessions; narrow it by project, host or process"));
  }
  if (listed.sessions().empty()) {
    return absl::NotFoundError("no session fits; \"nanolane ls\" lists those there are");
  }
  return std::vector<SessionSummary>(std::make_move_iterator(listed.mutable_sessions()->begin()),
                                     std::make_move_iterator(listed.mutable_sessions()->end()));
}

}  // namespace nanolane::query
