// What the implementations of Store share of reading: pages of sessions, filters, errors.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/store/store.h"

namespace nanolane::store {

// Where a page of sessions starts. Sessions are ordered newest first, equal times by id.
struct PageStart {
  int64_t created_unix_ns = 0;
  std::string session_id;

  static PageStart Of(const SessionSummary& summary);
  // Before: nearer to the start of the list.
  bool operator<(const PageStart& other) const;
  std::string Token() const;
};

// "" is the start of the list. INVALID_ARGUMENT for what Token() did not make.
absl::StatusOr<PageStart> ParsePageToken(const std::string& token);

// 0: 100; at most 1,000.
int PageSize(int asked);

bool Matches(const SessionSummary& summary, const v1::ListSessionsRequest& request);
bool Wants(const v1::ReadBlocksRequest& request, const v1::StoredBlock& block);
absl::Status NoSuchSession(const std::string& session_id);

}  // namespace nanolane::store
