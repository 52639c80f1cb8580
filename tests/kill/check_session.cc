#include "tests/kill/check_session.h"

#include <algorithm>
#include <utility>

#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

// Length of the union of spans.
uint64_t Covered(std::vector<std::pair<int64_t, int64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  uint64_t covered = 0;
  int64_t until = std::numeric_limits<int64_t>::min();
  for (const auto& [start, end] : spans) {
    if (end <= until) continue;
    covered += static_cast<uint64_t>(end - std::max(start, until));
    until = end;
  }
  return covered;
}

// Into KillLanes(), its size for another one.
int IndexOf(const query::v1::LaneInfo& lane) {
  const auto known =
      std::find(KillLanes().begin(), KillLanes().end(), trace::FromProto(lane.lane()));
  return static_cast<int>(known - KillLanes().begin());
}

}  // namespace

void SessionCheck::Say(const SessionModel& model, const std::string& what) {
  problems_.push_back(
      base::StrCat("session ", model.id(), " (generation ", model.generation(), "): ", what));
}

bool SessionCheck::Run(SessionModel& model) {
  seen_ = {};
  const absl::Status status = ReadTimeline(query_, model.id(), seen_);
  for (const std::string& problem : seen_.problems) Say(model, problem);
  if (absl::IsNotFound(status)) {
    if (model.confirmed && !model.deleting) Say(model, "was acknowledged and is gone");
    model.gone = model.deleting;
  } else if (!status.ok()) {
    Say(model, base::StrCat("cannot be read: ", status.ToString()));
    return false;
  } else if (!model.touched || model.gone) {
    Say(model, "is there, after it was deleted or before anything was sent");
  }
  CheckAppends(model);
  if (!status.ok()) return false;
  found_.insert(model.id());
  model.confirmed = true;
  CheckEvents(model, expected_, seen_.events, "timeline");
  CheckSummary(model);
  CheckLanes(model);
  CheckDensity(model);
  if (!seen_.events.empty()) CheckTiles(model);
  return true;
}

void SessionCheck::CheckAppends(SessionModel& model) {
  expected_.clear();
  losses_ = 0;
  for (SentEpoch& epoch : model.epochs()) {
    const auto where = [&](uint64_t sequence) {
      return base::StrCat("append ", sequence, " of ", epoch.appends.size(), " of epoch ",
                          epoch.number, ", acknowledged ", epoch.acknowledged, ", ");
    };
    uint64_t stored = model.gone ? 0 : epoch.acknowledged;
    for (uint64_t i = 0; i < epoch.appends.size(); ++i) {
      const EventsById& events = epoch.appends[i].events;
      const auto present =
          static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const auto& event) {
            return seen_.events.contains(event.first);
          }));
      if (present != 0 && present != events.size()) {
        Say(model, base::StrCat(where(i + 1), "is there in part: ", present, " of ", events.size(),
                                " events"));
      }
      if (present != 0) stored = std::max(stored, i + 1);
    }
    for (uint64_t i = 0; i < stored; ++i) {
      const SentAppend& append = epoch.appends[i];
      if (!append.events.empty() && !seen_.events.contains(append.events.begin()->first)) {
        Say(model, where(i + 1) + "is missing");
      }
      expected_.insert(append.events.begin(), append.events.end());
      losses_ += append.losses;
    }
    epoch.acknowledged = std::max(epoch.acknowledged, stored);
    if (&epoch != &model.epoch()) epoch.appends.resize(epoch.acknowledged);
  }
}

void SessionCheck::CheckEvents(const SessionModel& model, const EventsById& expected,
                               const EventsById& got, const char* where) {
  int said = 0;
  for (const auto& [id, facts] : expected) {
    const auto found = got.find(id);
    if (found != got.end() && found->second == facts) continue;
    if (++said > 3) break;
    Say(model, base::StrCat(where, ": event ", id, " ", ToString(facts), " is ",
                            found == got.end() ? "missing" : ToString(found->second)));
  }
  for (const auto& [id, facts] : got) {
    if (expected.contains(id)) continue;
    if (++said > 6) break;
    Say(model, base::StrCat(where, ": event ", id, " ", ToString(facts), " was not sent"));
  }
  if (said > 0) {
    Say(model, base::StrCat(where, ": ", got.size(), " events, expected ", expected.size()));
  }
}

void SessionCheck::CheckSummary(const SessionModel& model) {
  const trace::v1::SessionSummary& summary = seen_.summary;
  if (summary.session().pid() != model.generation()) Say(model, "is of another generation");
  if (model.closed && !summary.session().ended()) Say(model, "has not ended");
  std::map<trace::EventKind, uint64_t> kinds;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  for (const auto& [id, event] : expected_) {
    const int64_t end = event.start_ns + event.duration_ns;
    start_ns = kinds.empty() ? event.start_ns : std::min(start_ns, event.start_ns);
    end_ns = kinds.empty() ? end : std::max(end_ns, end);
    ++kinds[event.kind];
  }
  if (summary.events() != expected_.size() || summary.start_ns() != start_ns ||
      summary.end_ns() != end_ns) {
    Say(model, base::StrCat("the summary says ", summary.events(), " events from ",
                            summary.start_ns(), " to ", summary.end_ns(), ", not ",
                            expected_.size(), " from ", start_ns, " to ", end_ns));
  }
  for (const auto& kind : summary.by_kind()) {
    const uint64_t count = std::exchange(kinds[trace::FromProto(kind.kind())], 0);
    if (kind.count() == count) continue;
    Say(model,
        base::StrCat("the summary says ", kind.count(), " of kind ", kind.kind(), ", not ", count));
  }
  for (const auto& [kind, count] : kinds) {
    if (count > 0) Say(model, base::StrCat("the summary leaves out kind ", static_cast<int>(kind)));
  }
}

void SessionCheck::CheckLanes(const SessionModel& model) {
  std::map<int, uint64_t> counts;
  for (const auto& [id, event] : expected_) ++counts[event.lane];
  for (const auto& [id, lane] : seen_.lanes) {
    const uint64_t count = std::exchange(counts[IndexOf(lane)], 0);
    if (lane.events() == count) continue;
    Say(model, base::StrCat("lane ", id, " says ", lane.events(), " events, not ", count));
  }
  for (const auto& [lane, count] : counts) {
    if (count > 0) Say(model, base::StrCat("lane ", lane, " is not there, or twice"));
  }
}

void SessionCheck::CheckDensity(const SessionModel& model) {
  query::v1::GetDensityRequest request;
  request.mutable_scope()->add_session_ids(model.id());
  query::v1::GetDensityResponse response;
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  const absl::Status status = rpc::FromGrpc(query_.GetDensity(&context, request, &response));
  if (!status.ok()) return Say(model, base::StrCat("density: ", status.ToString()));
  using Totals = std::map<trace::EventKind, std::pair<uint64_t, uint64_t>>;  // events and ns
  Totals expected;
  Totals got;
  for (const auto& [id, event] : expected_) {
    auto& [events, busy_ns] = expected[event.kind];
    ++events;
    busy_ns += static_cast<uint64_t>(event.duration_ns);
  }
  uint64_t losses = 0;
  for (const auto& layer : response.layers()) {
    for (const auto& bin : layer.bins()) {
      losses += bin.losses();
      for (const auto& cell : bin.cells()) {
        auto& [events, busy_ns] = got[trace::FromProto(cell.kind())];
        events += cell.events();
        busy_ns += cell.busy_ns();
      }
    }
  }
  for (auto& [kind, totals] : expected) {
    const auto& [events, busy_ns] = got[kind];
    if (got[kind] == totals) continue;
    Say(model,
        base::StrCat("density says ", events, " events and ", busy_ns, " ns of kind ",
                     static_cast<int>(kind), ", not ", totals.first, " and ", totals.second));
  }
  if (got.size() != expected.size()) Say(model, "density has kinds that were not sent");
  if (losses != losses_) {
    Say(model, base::StrCat("density says ", losses, " losses, not ", losses_));
  }
}

void SessionCheck::CheckTiles(const SessionModel& model) {
  query::v1::GetTilesRequest request;
  for (const auto& [id, lane] : seen_.lanes) {
    query::v1::LaneRef& ref = *request.add_lanes();
    ref.set_session_id(model.id());
    ref.set_lane_id(id);
  }
  request.mutable_window()->set_start_ns(seen_.summary.start_ns());
  request.mutable_window()->set_end_ns(seen_.summary.end_ns() + 1);
  request.set_columns(1);
  query::v1::GetTilesResponse response;
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  const absl::Status status = rpc::FromGrpc(query_.GetTiles(&context, request, &response));
  if (!status.ok()) return Say(model, base::StrCat("tiles: ", status.ToString()));
  std::map<int, std::vector<std::pair<int64_t, int64_t>>> spans;
  for (const auto& [id, event] : expected_) {
    spans[event.lane].emplace_back(event.start_ns, event.start_ns + event.duration_ns);
  }
  for (const auto& tiles : response.lanes()) {
    const query::v1::LaneInfo& lane = seen_.lanes[tiles.lane().lane_id()];
    const auto expected = std::exchange(spans[IndexOf(lane)], {});
    const uint64_t starts = tiles.has_spans() ? tiles.spans().starts(0) : tiles.levels().changes(0);
    const uint64_t covered = tiles.has_spans() ? tiles.spans().covered_ns(0) : 0;
    if (starts != expected.size() || covered != Covered(expected)) {
      Say(model, base::StrCat("tiles of ", lane.label(), " say ", starts, " events and ", covered,
                              " ns, not ", expected.size(), " and ", Covered(expected)));
    }
    if (tiles.has_spans() && starts > 0) CheckLongest(model, response, tiles.spans(), lane);
  }
  for (const auto& [lane, left] : spans) {
    if (!left.empty()) Say(model, base::StrCat("tiles leave out lane ", lane));
  }
}

void SessionCheck::CheckLongest(const SessionModel& model, const query::v1::GetTilesResponse& tiles,
                                const trace::v1::TileColumns& columns,
                                const query::v1::LaneInfo& lane) {
  const auto name = static_cast<int>(columns.longest_name(0)) - 1;
  uint64_t longest_ns = 0;
  bool found = false;
  for (const auto& [id, event] : expected_) {
    if (event.lane != IndexOf(lane)) continue;
    longest_ns = std::max(longest_ns, static_cast<uint64_t>(event.duration_ns));
    found = found || (event.start_ns == columns.longest_start_ns(0) &&
                      static_cast<uint64_t>(event.duration_ns) == columns.longest_ns(0) &&
                      name >= 0 && name < tiles.names_size() && event.name == tiles.names(name));
  }
  if (found && columns.longest_ns(0) == longest_ns) return;
  Say(model, base::StrCat("tiles of ", lane.label(), " name a longest event that is not: ",
                          columns.longest_start_ns(0), " for ", columns.longest_ns(0), " ns"));
}

void SessionCheck::CheckFollower(const SessionModel& model, FollowState& state) {
  const bool resumed = state.cursor != 0;
  state.generation = model.generation();
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));
  const absl::Status status =
      Follow(query_, model.id(), context, state,
             [](const query::v1::FollowResponse& message) { return !message.caught_up(); });
  const char* where = resumed ? "resumed follower" : "follower";
  if (!status.ok()) Say(model, base::StrCat(where, ": ", status.ToString()));
  for (const std::string& problem : std::exchange(state.seen.problems, {})) {
    Say(model, base::StrCat(where, ": ", problem));
  }
  CheckEvents(model, expected_, state.seen.events, where);
  if (state.seen.summary.events() != expected_.size()) {
    Say(model, base::StrCat(where, ": the summary says ", state.seen.summary.events()));
  }
}

void SessionCheck::CheckSeen(const SessionModel& model, const FollowState& before) {
  for (const auto& [id, facts] : before.seen.events) {
    const auto found = seen_.events.find(id);
    if (found != seen_.events.end() && found->second == facts) continue;
    return Say(model, base::StrCat("event ", id, " ", ToString(facts),
                                   " was shown before the crash and is gone or another now"));
  }
}

void SessionCheck::AwaitSealed(const SessionModel& model) {
  FollowState state;
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));
  const absl::Status status =
      Follow(query_, model.id(), context, state, [&](const query::v1::FollowResponse& /*message*/) {
        return state.seen.summary.unsealed_events() > 0;
      });
  if (!status.ok()) Say(model, base::StrCat("is not sealed: ", status.ToString()));
  SeenSession sealed;
  const absl::Status read = ReadTimeline(query_, model.id(), sealed);
  if (read.ok() && sealed.block_bytes == sealed.summary.stored_bytes()) return;
  Say(model, base::StrCat("has ", sealed.block_bytes, " bytes of blocks, its summary says ",
                          sealed.summary.stored_bytes(), ": ", read.ToString()));
}

void SessionCheck::CheckList() {
  std::multiset<std::string> listed;
  query::v1::ListSessionsRequest request;
  request.set_page_size(3);
  do {
    query::v1::ListSessionsResponse response;
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    const absl::Status status = rpc::FromGrpc(query_.ListSessions(&context, request, &response));
    if (!status.ok()) {
      problems_.push_back(base::StrCat("listing: ", status.ToString()));
      return;
    }
    for (const auto& summary : response.sessions()) listed.insert(summary.session().session_id());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  if (!std::equal(listed.begin(), listed.end(), found_.begin(), found_.end())) {
    problems_.push_back(
        base::StrCat("the list has ", listed.size(), " sessions, ", found_.size(), " can be read"));
  }
}

}  // namespace nanolane::testing
