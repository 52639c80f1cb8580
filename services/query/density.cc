#include "services/query/density.h"

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/query/scope.h"

namespace nanolane::query {
namespace {

// As many as one call of the store takes; a scope of more is refused, not cut.
constexpr int kMostSessions = 10'000;

}  // namespace

absl::StatusOr<v1::GetDensityResponse> GetDensity(const v1::GetDensityRequest& request,
                                                  StoreReader& store) {
  nanolane::store::v1::GetDensityRequest ask;
  if (request.has_window()) *ask.mutable_window() = request.window();
  ask.set_max_bins(request.max_bins());
  v1::ListSessionsRequest page;
  *page.mutable_scope() = request.scope();
  page.set_page_size(1'000);
  do {
    ASSIGN_OR_RETURN(const v1::ListSessionsResponse listed, ListSessions(page, store));
    for (const SessionSummary& summary : listed.sessions()) {
      ask.add_session_ids(summary.session().session_id());
    }
    if (ask.session_ids_size() > kMostSessions) {
      return absl::InvalidArgumentError(
          base::StrCat("the scope selects more than ", kMostSessions,
                       " sessions; narrow it by project, host or process"));
    }
    page.set_page_token(listed.next_page_token());
  } while (!page.page_token().empty());
  ASSIGN_OR_RETURN(nanolane::store::v1::GetDensityResponse answer, store.GetDensity(ask));
  v1::GetDensityResponse response;
  response.mutable_layers()->Swap(answer.mutable_layers());
  response.set_sessions(static_cast<uint64_t>(ask.session_ids_size()));
  return response;
}

}  // namespace nanolane::query
