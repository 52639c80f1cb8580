#include "services/store/group_bundle.h"

#include <catch2/catch.hpp>
#include <vector>

namespace nanolane::store {
namespace {

TEST_CASE("groups come back from their bundle, empty ones too") {
  const std::vector<std::string> groups = {"first", "", "third, longer", "x"};
  for (uint32_t count = 1; count <= kBundleGroups; ++count) {
    const std::string bundle = BundleGroups(std::span(groups).first(count));
    for (uint32_t i = 0; i < count; ++i) CHECK(*GroupOfBundle(bundle, count, i) == groups[i]);
    CHECK_FALSE(GroupOfBundle(bundle, count, count).ok());
  }
}

TEST_CASE("a bundle that is cut or says nonsense is data loss") {
  const std::vector<std::string> groups = {"first", "second"};
  const std::string bundle = BundleGroups(groups);
  for (size_t size = 0; size < bundle.size(); ++size) {
    CHECK(GroupOfBundle(bundle.substr(0, size), 2, 1).status().code() ==
          absl::StatusCode::kDataLoss);
  }
  std::string backwards = bundle;
  backwards[0] = 100;
  CHECK_FALSE(GroupOfBundle(backwards, 2, 1).ok());
}

}  // namespace
}  // namespace nanolane::store
