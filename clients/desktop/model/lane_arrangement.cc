#include "clients/desktop/model/lane_arrangement.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace nanolane::desktop {
namespace {

bool BelongsToStream(trace::LaneKind kind) {
  return kind == trace::LaneKind::kStream || kind == trace::LaneKind::kUnspecified ||
         kind == trace::LaneKind::kStreamSync || kind == trace::LaneKind::kNvtxStream;
}

}  // namespace

std::string LaneKey(const SessionFacts& session, const trace::Lane& lane) {
  return absl::StrCat(session.id, "/", static_cast<int>(lane.kind), "/", lane.gpu_index, "/",
                      lane.gpu_uuid, "/", lane.context, "/", lane.stream, "/", lane.thread, "/",
                      lane.domain);
}

std::string LaneUnitKey(const SessionFacts& session, const trace::Lane& lane) {
  if (!BelongsToStream(lane.kind)) return LaneKey(session, lane);
  return LaneKey(session, {.kind = trace::LaneKind::kStream,
                           .gpu_uuid = lane.gpu_uuid,
                           .gpu_index = lane.gpu_index,
                           .context = lane.context,
                           .stream = lane.stream});
}

bool LaneArrangement::Expanded(const std::string& lane, bool by_default) const {
  const auto found = expanded_.find(lane);
  return found == expanded_.end() ? by_default : found->second;
}

void LaneArrangement::SetExpanded(const std::string& lane, bool expanded) {
  expanded_[lane] = expanded;
  ++version_;
}

bool LaneArrangement::Pinned(const std::string& lane) const {
  return std::find(pins_.begin(), pins_.end(), lane) != pins_.end();
}

void LaneArrangement::SetPinned(const std::string& lane, bool pinned) {
  if (Pinned(lane) == pinned) return;
  if (pinned) {
    pins_.push_back(lane);
  } else {
    std::erase(pins_, lane);
  }
  ++version_;
}

void LaneArrangement::SetPins(std::vector<std::string> pins) {
  pins_ = std::move(pins);
  ++version_;
}

void LaneArrangement::Hide(const std::string& lane) {
  hidden_.insert(lane);
  ++version_;
}

void LaneArrangement::ShowHidden() {
  hidden_.clear();
  ++version_;
}

void LaneArrangement::ToggleGroup(const std::string& group) {
  if (collapsed_.erase(group) == 0) collapsed_.insert(group);
  ++version_;
}

void LaneArrangement::ToggleApi(const std::string& session) {
  if (api_shown_.erase(session) == 0) api_shown_.insert(session);
  ++version_;
}

std::vector<std::string> LaneArrangement::Ordered(const std::string& group,
                                                  const std::vector<std::string>& units) const {
  const auto moved = order_.find(group);
  if (moved == order_.end()) return units;
  absl::flat_hash_set<std::string> missing(units.begin(), units.end());
  std::vector<std::string> ordered;
  for (const std::string& unit : moved->second) {
    if (missing.erase(unit) > 0) ordered.push_back(unit);
  }
  for (size_t i = 0; i < units.size(); ++i) {
    if (!missing.contains(units[i])) continue;
    auto place = ordered.begin();
    if (i > 0) place = std::next(std::find(ordered.begin(), ordered.end(), units[i - 1]));
    ordered.insert(place, units[i]);
  }
  return ordered;
}

void LaneArrangement::SetOrder(const std::string& group, std::vector<std::string> units) {
  order_[group] = std::move(units);
  ++version_;
}

}  // namespace nanolane::desktop
