// What a client of the query service sees of a session, by its two ways of reading all of it: the
// timeline stream and the follower. Thread-compatible.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "libs/trace/dictionary.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "tests/kill/session_model.h"

namespace nanolane::testing {

struct SeenSession {
  trace::v1::SessionSummary summary;
  std::map<uint32_t, query::v1::LaneInfo> lanes;
  EventsById events;
  uint64_t block_bytes = 0;
  std::vector<std::string> problems;  // promises of the protos that were broken

  void AddLane(const query::v1::LaneInfo& lane) { lanes[lane.lane_id()] = lane; }
  void AddDictionary(uint64_t epoch, const trace::v1::DictionaryDelta& delta);
  void AddBlock(uint32_t lane_id, uint64_t epoch, const std::string& data);

 private:
  std::map<uint64_t, trace::Dictionary> dictionaries_;
};

// NOT_FOUND when there is no such session.
absl::Status ReadTimeline(query::v1::QueryService::Stub& query, const std::string& session_id,
                          SeenSession& seen);

// A follower's place, kept from one connection to the next.
struct FollowState {
  uint64_t generation = 0;
  uint64_t cursor = 0;
  SeenSession seen;
};

// Told of every message once it has been taken; false ends the following.
using FollowVisitor = std::function<bool(const query::v1::FollowResponse&)>;

// Goes on following until `visit` says so (OK) or the stream ends. The context is the caller's, so
// that another thread can cancel it.
absl::Status Follow(query::v1::QueryService::Stub& query, const std::string& session_id,
                    grpc::ClientContext& context, FollowState& state, const FollowVisitor& visit);

}  // namespace nanolane::testing
