#include "clients/desktop/testing/large_session_service.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/timeline/lane_index.h"
#include "libs/timeline/memory_index.h"

namespace nanolane::desktop {
namespace {

bool Overlaps(const trace::EventColumns& events, size_t i, int64_t from_ns, int64_t to_ns) {
  const int64_t start = events.start_ns[i];
  const int64_t end = start + std::max<int64_t>(events.duration_ns[i], 0);
  return start < to_ns && (end > from_ns || start >= from_ns);
}

// The session with only the events that overlap the window.
SessionBuilder Cut(const SessionBuilder& session, const trace::v1::TimeRange& window) {
  SessionBuilder cut = session;
  cut.KeepEvents([&window](const trace::EventColumns& events, size_t i) {
    return Overlaps(events, i, window.start_ns(), window.end_ns());
  });
  return cut;
}

class Tiles {
 public:
  Tiles(const SessionBuilder& session, const query::v1::GetTilesRequest& request,
        query::v1::GetTilesResponse& response)
      : session_(session), request_(request), response_(response) {}

  void Add(const query::v1::LaneRef& ref) {
    const auto found = session_.lanes().find(ref.lane_id());
    if (found == session_.lanes().end()) return;
    query::v1::LaneTiles& tiles = *response_.add_lanes();
    *tiles.mutable_lane() = ref;
    const trace::LaneKind kind = session_.tables().LaneOf(ref.lane_id())->kind;
    const bool is_memory =
        kind == trace::LaneKind::kMemoryDriver || kind == trace::LaneKind::kMemoryFramework;
    is_memory ? AddLevels(found->second, *tiles.mutable_levels())
              : AddSpans(found->second, *tiles.mutable_spans());
  }

 private:
  timeline::Window window() const {
    return {request_.window().start_ns(), request_.window().end_ns()};
  }

  trace::Category CategoryOf(trace::OpId op) const {
    const trace::Op& facts = session_.tables().OpOf(op);
    return trace::CategoryOf(facts.kind, facts.family, facts.copy_direction);
  }

  uint32_t NameOf(trace::OpId op) {
    const std::string name(session_.tables().String(session_.tables().OpOf(op).name));
    const auto [at, added] = names_.try_emplace(name, response_.names_size() + 1);
    if (added) response_.add_names(name);
    return static_cast<uint32_t>(at->second);
  }

  void AddSpans(const trace::EventColumns& events, trace::v1::TileColumns& out) {
    timeline::LaneIndex index;
    std::vector<trace::Category> categories;
    for (const trace::OpId op : events.op) categories.push_back(CategoryOf(op));
    index.Append({events.start_ns, events.duration_ns, categories});
    std::vector<timeline::PixelColumn> columns(request_.columns());
    index.Columns(window(), columns);
    for (uint32_t i = 0; i < request_.columns(); ++i) {
      const timeline::PixelColumn& column = columns[i];
      const timeline::Window extent{timeline::ColumnEdge(window(), request_.columns(), i),
                                    timeline::ColumnEdge(window(), request_.columns(), i + 1)};
      out.add_covered_ns(static_cast<uint64_t>(column.covered_ns));
      out.add_starts(column.starts);
      out.add_present(column.present);
      out.add_dominant_category(
          column.present ? static_cast<trace::v1::Category>(static_cast<int>(column.dominant) + 1)
                         : trace::v1::CATEGORY_UNSPECIFIED);
      const auto inside = index.EventsIn(extent, std::numeric_limits<size_t>::max());
      size_t longest = events.size();
      if (inside.has_value()) {
        for (const auto& event : *inside) {
          const bool is_longer = longest == events.size() ||
                                 events.duration_ns[event.index] > events.duration_ns[longest];
          if (is_longer) longest = event.index;
        }
      }
      const bool has_one = column.present && longest < events.size();
      const auto dominant =
          timeline::DominantName(index, extent, std::numeric_limits<size_t>::max(),
                                 [&](size_t event) { return NameOf(events.op[event]); });
      out.add_dominant_name(has_one ? dominant.value_or(0) : 0);
      out.add_longest_start_ns(has_one ? events.start_ns[longest] : 0);
      out.add_longest_ns(has_one ? static_cast<uint64_t>(events.duration_ns[longest]) : 0);
      out.add_longest_name(has_one ? NameOf(events.op[longest]) : 0);
    }
  }

  void AddLevels(const trace::EventColumns& events, trace::v1::LevelColumns& out) {
    timeline::MemoryIndex index;
    index.Append(events.start_ns, events.level_bytes);
    std::vector<timeline::LevelColumn> columns(request_.columns());
    index.Columns(window(), columns);
    for (const timeline::LevelColumn& column : columns) {
      out.add_known(column.known);
      out.add_lowest_bytes(column.lowest);
      out.add_highest_bytes(column.highest);
      out.add_last_bytes(column.last);
      out.add_changes(column.changes);
    }
  }

  const SessionBuilder& session_;
  const query::v1::GetTilesRequest& request_;
  query::v1::GetTilesResponse& response_;
  std::map<std::string, int> names_;
};

}  // namespace

LargeSessionService::LargeSessionService(const SessionBuilder& session) : session_(session) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

LargeSessionService::~LargeSessionService() { server_->Shutdown(); }

std::shared_ptr<grpc::Channel> LargeSessionService::channel() const {
  return rpc::OpenChannel(address_);
}

grpc::Status LargeSessionService::ListSessions(grpc::ServerContext* /*context*/,
                                               const query::v1::ListSessionsRequest* /*request*/,
                                               query::v1::ListSessionsResponse* response) {
  *response->add_sessions() = session_.Summary();
  return grpc::Status::OK;
}

grpc::Status LargeSessionService::ListLanes(grpc::ServerContext* /*context*/,
                                            const query::v1::ListLanesRequest* /*request*/,
                                            query::v1::ListLanesResponse* response) {
  for (const auto& [id, events] : session_.lanes()) {
    *response->add_lanes() = session_.InfoOf(id, events);
  }
  return grpc::Status::OK;
}

grpc::Status LargeSessionService::GetTiles(grpc::ServerContext* /*context*/,
                                           const query::v1::GetTilesRequest* request,
                                           query::v1::GetTilesResponse* response) {
  if (tiles_fail_) return {grpc::StatusCode::UNAVAILABLE, "the store is away"};
  Tiles tiles(session_, *request, *response);
  for (const query::v1::LaneRef& lane : request->lanes()) tiles.Add(lane);
  ++tile_answers_;
  return grpc::Status::OK;
}

grpc::Status LargeSessionService::StreamTimeline(
    grpc::ServerContext* /*context*/, const query::v1::StreamTimelineRequest* request,
    grpc::ServerWriter<query::v1::StreamTimelineResponse>* writer) {
  ++streams_;
  const SessionBuilder cut = request->has_window() ? Cut(session_, request->window()) : session_;
  for (query::v1::StreamTimelineResponse& message : cut.Messages()) {
    // Lanes without events in the window are not told.
    if (message.has_header()) {
      auto& lanes = *message.mutable_header()->mutable_lanes();
      lanes.erase(std::remove_if(lanes.begin(), lanes.end(),
                                 [](const auto& lane) { return lane.events() == 0; }),
                  lanes.end());
    }
    if (!writer->Write(message)) return grpc::Status::CANCELLED;
  }
  return grpc::Status::OK;
}

}  // namespace nanolane::desktop
