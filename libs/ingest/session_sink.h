// Where importers and collectors put what they found: one session at a time, events lane by lane.
//
// The interface hides whether the events go to a store over gRPC (SessionWriter) or into memory
// (tests). Thread-compatible: one thread drives a sink.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::ingest {

class SessionSink {
 public:
  virtual ~SessionSink() = default;

  // Ops, stacks and lanes of the events are interned here first.
  virtual trace::DictionaryBuilder& dictionary() = 0;

  // Events of a lane come in order of their start; out of order is legal and packs worse.
  virtual absl::Status Add(trace::LaneId lane, const trace::Event& event) = 0;

  // Ends the session: everything is on disk when this returns OK. `final_session` carries what was
  // learnt since the sink was opened (losses, what was left out, GPUs). Add must not follow.
  virtual absl::Status Finish(const nanolane::trace::v1::Session& final_session) = 0;
};

class SinkFactory {
 public:
  virtual ~SinkFactory() = default;

  // Whether the store already holds the session whole (ended); its summary if so.
  virtual absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> FindEnded(
      const std::string& session_id) = 0;

  virtual absl::StatusOr<std::unique_ptr<SessionSink>> Open(
      const nanolane::trace::v1::Session& session) = 0;
};

}  // namespace nanolane::ingest
