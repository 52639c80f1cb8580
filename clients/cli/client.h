// Calls of the query service as the commands need them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/cli/options.h"
#include "libs/base/time_text.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::cli {

namespace query_v1 = nanolane::query::v1;
using nanolane::trace::v1::SessionSummary;

class QueryClient {
 public:
  static absl::StatusOr<std::unique_ptr<QueryClient>> Connect(const GlobalOptions& options);

  query_v1::QueryService::Stub& stub() { return *stub_; }

  // All sessions of a scope, newest first.
  absl::StatusOr<std::vector<SessionSummary>> ListSessions(const query_v1::Scope& scope);

  // The session that a person means: its whole id, the beginning of one, or "latest". NOT_FOUND or
  // INVALID_ARGUMENT (several fit) say how to go on.
  absl::StatusOr<SessionSummary> FindSession(const std::string& text);

  absl::StatusOr<std::vector<query_v1::LaneInfo>> ListLanes(const std::string& session_id);

 private:
  explicit QueryClient(std::unique_ptr<query_v1::QueryService::Stub> stub)
      : stub_(std::move(stub)) {}

  std::unique_ptr<query_v1::QueryService::Stub> stub_;
};

// A range that counts from the session's start, in session time.
nanolane::trace::v1::TimeRange ToSessionTime(const base::TimeRange& range,
                                             const SessionSummary& summary);

// "kernel", "memcpy", …
std::string KindName(nanolane::trace::v1::EventKind kind);

// Sum of a session's losses.
uint64_t LostEvents(const nanolane::trace::v1::Session& session);

// The executable without folders; "-" when it is not known.
std::string ProcessName(const nanolane::trace::v1::Session& session);

}  // namespace nanolane::cli
