// One session as the store has it: its summary, and every event with what its epoch's dictionary
// says of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/trace/model.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::testing {

struct StoredEvent {
  trace::Event event;
  uint64_t epoch = 0;
  trace::EventKind kind = trace::EventKind::kUnspecified;
  std::string name;
};

struct StoredSession {
  trace::v1::SessionSummary summary;
  std::vector<uint64_t> epochs;
  std::vector<StoredEvent> events;
};

absl::StatusOr<StoredSession> ReadStored(store::v1::StoreService::StubInterface& store,
                                         const std::string& session_id);

// Waits until the store says that the session has ended, by following it.
absl::Status AwaitEnded(store::v1::StoreService::StubInterface& store,
                        const std::string& session_id, std::chrono::milliseconds patience);

}  // namespace nanolane::testing
