#include "services/store/bundle.h"

#include <catch2/catch.hpp>
#include <vector>

namespace nanolane::store {
namespace {

TEST_CASE("pieces come back from their bundles, empty ones too") {
  std::vector<std::string> pieces = {"first", "", "third, longer", "x", "", "sixth", "seventh"};
  for (size_t size = 0; size <= pieces.size(); ++size) {
    const std::vector<std::string> bundles = Bundle(std::span(pieces).first(size), 3);
    REQUIRE(bundles.size() == (size + 2) / 3);
    for (uint32_t i = 0; i < size; ++i) {
      const auto count = static_cast<uint32_t>(std::min<size_t>(3, size - i / 3 * 3));
      CHECK(*PieceOfBundle(bundles[i / 3], count, i % 3) == pieces[i]);
      CHECK_FALSE(PieceOfBundle(bundles[i / 3], count, count).ok());
    }
  }
}

TEST_CASE("a bundle that is cut or says nonsense is data loss") {
  const std::vector<std::string> pieces = {"first", "second"};
  const std::string bundle = Bundle(pieces, 4).front();
  for (size_t size = 0; size < bundle.size(); ++size) {
    CHECK(PieceOfBundle(bundle.substr(0, size), 2, 1).status().code() ==
          absl::StatusCode::kDataLoss);
  }
  std::string backwards = bundle;
  backwards[0] = 100;
  CHECK_FALSE(PieceOfBundle(backwards, 2, 1).ok());
}

}  // namespace
}  // namespace nanolane::store
