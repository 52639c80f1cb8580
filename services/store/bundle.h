// Pieces of a sealed row as they lie in the database: several consecutive ones in one value,
// because a look-up costs more than what it brings. In bytes, little-endian:
//
//   end of each piece, counted from the last of these numbers, u32 × pieces | the pieces
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace nanolane::store {

// Of pages a query that spans a row reads nearly all, of groups those where its columns' edges
// fall.
inline constexpr uint32_t kBundlePages = 16;
inline constexpr uint32_t kBundleGroups = 4;

// All bundles but the last hold `per_bundle` pieces.
std::vector<std::string> Bundle(std::span<const std::string> pieces, uint32_t per_bundle);

// Piece `number` of a bundle of `count`. DATA_LOSS when the bytes are no such bundle.
absl::StatusOr<std::string_view> PieceOfBundle(std::string_view bundle, uint32_t count,
                                               uint32_t number);

}  // namespace nanolane::store
