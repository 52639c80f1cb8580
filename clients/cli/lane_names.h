// Names of lanes that are unique within a session: the label, with the GPU or context in front
// where the label alone is not.
#pragma once

#include <string>
#include <vector>

#include "nanolane/query/v1/query.pb.h"

namespace nanolane::cli {

// In the order of `lanes`.
std::vector<std::string> UniqueLaneNames(const std::vector<nanolane::query::v1::LaneInfo>& lanes);

}  // namespace nanolane::cli
