#include "services/query/tiles.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::query {
namespace {

namespace store_v1 = nanolane::store::v1;

constexpr uint64_t kMostColumns = 1 << 18;

// Puts answers of several sessions together; their names become one list.
class Answer {
 public:
  void Take(store_v1::GetTilesResponse from, const std::string& session_id,
            std::map<uint32_t, v1::LaneTiles>& lanes) {
    std::vector<uint32_t> number_of = {0};  // [the session's number of a name]
    for (const std::string& name : from.names()) {
      const auto [at, added] =
          numbers_.try_emplace(name, static_cast<uint32_t>(response_.names_size() + 1));
      if (added) response_.add_names(name);
      number_of.push_back(at->second);
    }
    for (store_v1::LaneTiles& lane : *from.mutable_lanes()) {
      v1::LaneTiles& to = lanes[lane.lane_id()];
      to.mutable_lane()->set_session_id(session_id);
      to.mutable_lane()->set_lane_id(lane.lane_id());
      if (lane.has_levels()) {
        to.mutable_levels()->Swap(lane.mutable_levels());
        continue;
      }
      to.mutable_spans()->Swap(lane.mutable_spans());
      for (uint32_t& name : *to.mutable_spans()->mutable_dominant_name()) name = number_of[name];
      for (uint32_t& name : *to.mutable_spans()->mutable_longest_name()) name = number_of[name];
    }
  }

  v1::GetTilesResponse& response() { return response_; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  v1::GetTilesResponse response_;
};

}  // namespace

absl::StatusOr<v1::GetTilesResponse> GetTiles(const v1::GetTilesRequest& request,
                                              StoreReader& store) {
  if (request.lanes().empty()) return absl::InvalidArgumentError("name the lanes to show");
  const uint64_t columns = static_cast<uint64_t>(request.lanes_size()) * request.columns();
  if (columns > kMostColumns) {
    return absl::InvalidArgumentError(base::StrCat(
        request.lanes_size(), " lanes of ", request.columns(), " columns are more than ",
        kMostColumns, " in all; ask for some of them at a time"));
  }
  std::map<std::string, store_v1::GetTilesRequest> by_session;
  for (const v1::LaneRef& lane : request.lanes()) {
    store_v1::GetTilesRequest& ask = by_session[lane.session_id()];
    ask.set_session_id(lane.session_id());
    ask.add_lane_ids(lane.lane_id());
    *ask.mutable_window() = request.window();
    ask.set_columns(request.columns());
  }
  Answer answer;
  std::map<std::string, std::map<uint32_t, v1::LaneTiles>> lanes;
  for (const auto& [session_id, ask] : by_session) {
    ASSIGN_OR_RETURN(store_v1::GetTilesResponse part, store.GetTiles(ask));
    answer.Take(std::move(part), session_id, lanes[session_id]);
  }
  for (const v1::LaneRef& lane : request.lanes()) {
    auto& of_session = lanes[lane.session_id()];
    const auto found = of_session.find(lane.lane_id());
    if (found == of_session.end()) continue;
    *answer.response().add_lanes() = std::move(found->second);
    of_session.erase(found);  // a lane that is asked for twice is answered once
  }
  return std::move(answer.response());
}

}  // namespace nanolane::query
