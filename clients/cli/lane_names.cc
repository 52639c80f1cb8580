#include "clients/cli/lane_names.h"

#include <map>

#include "libs/base/str_cat.h"

namespace nanolane::cli {

std::vector<std::string> UniqueLaneNames(const std::vector<nanolane::query::v1::LaneInfo>& lanes) {
  std::vector<std::string> names;
  for (const auto& lane : lanes) names.push_back(lane.label());
  const auto prefix_duplicates = [&](auto prefix) {
    std::map<std::string, int> uses;
    for (const std::string& name : names) ++uses[name];
    for (size_t i = 0; i < names.size(); ++i) {
      if (uses[names[i]] > 1) names[i] = prefix(lanes[i]) + names[i];
    }
  };
  prefix_duplicates([](const auto& lane) {
    return lane.lane().gpu_index() < 0 ? "" : base::StrCat("GPU ", lane.lane().gpu_index(), " ");
  });
  prefix_duplicates(
      [](const auto& lane) { return base::StrCat("context ", lane.lane().context(), " "); });
  return names;
}

}  // namespace nanolane::cli
