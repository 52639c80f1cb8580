// Compares a session that the store holds with what was sent and acknowledged, by every way in
// which the query service tells of it. Nobody writes meanwhile; the store may be sealing.
// Thread-compatible.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/kill/session_model.h"
#include "tests/kill/session_reader.h"

namespace nanolane::testing {

using Problems = std::vector<std::string>;

class SessionCheck {
 public:
  SessionCheck(query::v1::QueryService::Stub& query, Problems& problems)
      : query_(query), problems_(problems) {}

  // Reads and compares. What turns out to be stored counts as acknowledged afterwards, and what an
  // epoch that was left has lost is forgotten. Returns whether the session is there.
  bool Run(SessionModel& model);
  // The follower's view, resumed or from the beginning, once it has caught up, is that of the
  // timeline that Run() has read.
  void CheckFollower(const SessionModel& model, FollowState& state);
  // What a follower saw before a crash is there after it.
  void CheckSeen(const SessionModel& model, const FollowState& before);
  // Waits for the store to seal it.
  void AwaitSealed(const SessionModel& model);
  // Exactly the sessions that were found are listed, once each.
  void CheckList();

 private:
  void Say(const SessionModel& model, const std::string& what);
  void CheckAppends(SessionModel& model);
  void CheckEvents(const SessionModel& model, const EventsById& expected, const EventsById& got,
                   const char* where);
  void CheckSummary(const SessionModel& model);
  void CheckLanes(const SessionModel& model);
  void CheckDensity(const SessionModel& model);
  void CheckTiles(const SessionModel& model);
  // The one event that the column of a lane names is there.
  void CheckLongest(const SessionModel& model, const query::v1::GetTilesResponse& tiles,
                    const trace::v1::TileColumns& columns, const query::v1::LaneInfo& lane);

  query::v1::QueryService::Stub& query_;
  Problems& problems_;
  SeenSession seen_;     // by the last Run()
  EventsById expected_;  // of the appends that are stored
  uint64_t losses_ = 0;
  std::set<std::string> found_;
};

}  // namespace nanolane::testing
