#include "clients/cli/client.h"

#include "absl/strings/match.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/wire.h"

namespace nanolane::cli {

void AddGlobalOptions(CLI::App& command, GlobalOptions& options) {
  command.add_option("--server", options.server, "Address of the Nanolane server")
      ->capture_default_str()
      ->envname("NANOLANE_SERVER");
  command.add_option("--format", options.format, "How to print the result")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
}

absl::StatusOr<std::unique_ptr<QueryClient>> QueryClient::Connect(const GlobalOptions& options) {
  ASSIGN_OR_RETURN(const auto channel, rpc::Connect(options.server));
  return std::unique_ptr<QueryClient>(new QueryClient(query_v1::QueryService::NewStub(channel)));
}

absl::StatusOr<std::vector<SessionSummary>> QueryClient::ListSessions(
    const query_v1::Scope& scope) {
  std::vector<SessionSummary> sessions;
  query_v1::ListSessionsRequest request;
  *request.mutable_scope() = scope;
  request.set_page_size(1'000);
  do {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    query_v1::ListSessionsResponse page;
    RETURN_IF_ERROR(rpc::FromGrpc(stub_->ListSessions(&context, request, &page)));
    for (SessionSummary& summary : *page.mutable_sessions()) sessions.push_back(std::move(summary));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return sessions;
}

absl::StatusOr<SessionSummary> QueryClient::FindSession(const std::string& text) {
  ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions, ListSessions({}));
  if (text == "latest" && !sessions.empty()) return sessions.front();
  const SessionSummary* found = nullptr;
  for (const SessionSummary& summary : sessions) {
    if (!absl::StartsWith(summary.session().session_id(), text)) continue;
    if (found != nullptr) {
      return absl::InvalidArgumentError(
          base::StrCat("several sessions begin with \"", text,
                       "\"; write more of the id (\"nanolane ls\" shows them)"));
    }
    found = &summary;
  }
  if (found == nullptr) {
    return absl::NotFoundError(
        base::StrCat("no session \"", text, "\"; \"nanolane ls\" shows those there are"));
  }
  return *found;
}

absl::StatusOr<std::vector<query_v1::LaneInfo>> QueryClient::ListLanes(
    const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  query_v1::ListLanesRequest request;
  request.mutable_scope()->add_session_ids(session_id);
  query_v1::ListLanesResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(stub_->ListLanes(&context, request, &response)));
  return std::vector<query_v1::LaneInfo>(response.lanes().begin(), response.lanes().end());
}

nanolane::trace::v1::TimeRange ToSessionTime(const base::TimeRange& range,
                                             const SessionSummary& summary) {
  nanolane::trace::v1::TimeRange window;
  window.set_start_ns(summary.start_ns() + range.from_ns);
  window.set_end_ns(summary.start_ns() + range.to_ns);
  return window;
}

std::string KindName(nanolane::trace::v1::EventKind kind) {
  return std::string(trace::ToString(trace::FromProto(kind)));
}

uint64_t LostEvents(const nanolane::trace::v1::Session& session) {
  uint64_t lost = 0;
  for (const auto& loss : session.losses()) lost += loss.count();
  return lost;
}

std::string ProcessName(const nanolane::trace::v1::Session& session) {
  const std::string& path = session.executable();
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.empty() ? "-" : name;
}

}  // namespace nanolane::cli
