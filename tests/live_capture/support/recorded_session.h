// A session as the store holds it, with everything that its events refer to.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/trace/model.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::testing {

struct RecordedOp {
  trace::Op op;
  std::string name;
  std::map<std::string, std::string> attributes;
};

struct RecordedEvent {
  trace::Event event;
  const RecordedOp* op;
  const trace::Lane* lane;
};

// Moved, never copied: its events point into it.
struct RecordedSession {
  RecordedSession() = default;
  RecordedSession(RecordedSession&&) = default;
  RecordedSession& operator=(RecordedSession&&) = default;

  nanolane::trace::v1::SessionSummary summary;
  std::vector<uint64_t> epochs;
  std::vector<RecordedEvent> events;
  // What the events point to.
  std::deque<RecordedOp> ops;
  std::deque<trace::Lane> lanes;

  const nanolane::trace::v1::Session& session() const { return summary.session(); }
  std::string Label(const std::string& name) const;
  int64_t on_ns() const { return std::stoll(Label("capture.on_ns")); }
  int64_t off_ns() const { return std::stoll(Label("capture.off_ns")); }
  std::string end() const { return Label("capture.end"); }
  std::string notes() const;
  size_t Count(trace::EventKind kind) const;
  // Counts of the losses of a kind whose reason has `reason` in it.
  uint64_t Lost(trace::EventKind kind, const std::string& reason = "") const;
  // Everything that is missing, as text.
  std::string Losses() const;
};

// Without events where `with_events` does not hold.
absl::StatusOr<RecordedSession> ReadSession(nanolane::store::v1::StoreService::Stub& store,
                                            const std::string& session_id, bool with_events = true);

}  // namespace nanolane::testing
