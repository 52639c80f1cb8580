// Packs residuals: small unsigned numbers, most of them close to zero.
//
// A residual's low byte and second byte go to planes of their own, the rest (residual >> 16) to a
// plane of varints. Each plane is stored constant, raw or zstd-compressed, whichever is smallest;
// planes above the largest residual are left out. Noise thus stays out of zstd's way, and what
// repeats compresses as bytes. docs/storage-format.md has the layout. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace nanolane::trace {

// Appends the packed form of `residuals` to `out`.
void PackPlanes(std::span<const uint64_t> residuals, std::string& out);

// Unpacks exactly residuals.size() values from all of `packed`. DATA_LOSS when it is malformed.
absl::Status UnpackPlanes(std::string_view packed, std::span<uint64_t> residuals);

}  // namespace nanolane::trace
