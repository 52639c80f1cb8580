// Groups of a sealed row as they lie in the database: four consecutive ones in one value, because a
// look-up costs more than what it brings. In bytes, little-endian:
//
//   end of each group, counted from the last end, u32 × groups in the bundle | the groups
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace nanolane::store {

inline constexpr uint32_t kBundleGroups = 4;

// 1 … kBundleGroups groups; all bundles of a row but the last are full.
std::string BundleGroups(std::span<const std::string> groups);

// Group `number` of a bundle of `count`. DATA_LOSS when the bytes are no such bundle.
absl::StatusOr<std::string_view> GroupOfBundle(std::string_view bundle, uint32_t count,
                                               uint32_t number);

}  // namespace nanolane::store
