#include "tests/live_capture/support/deeds.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace nanolane::testing {

std::vector<Deed> ReadDeeds(const std::string& path) {
  std::vector<Deed> deeds;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    // A process that was killed leaves half a line.
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) continue;
    deeds.push_back({.call = json["call"],
                     .name = json["name"],
                     .domain = json["domain"],
                     .before_ns = json["before"],
                     .after_ns = json["after"],
                     .thread = json["thread"],
                     .correlation = json["correlation"],
                     .device = json["device"],
                     .stream = json["stream"],
                     .bytes = json["bytes"],
                     .count = json["count"],
                     .result = json["result"]});
  }
  return deeds;
}

}  // namespace nanolane::testing
