#include "services/store/bundle.h"

#include <algorithm>

#include "libs/trace/little_endian.h"

namespace nanolane::store {

std::vector<std::string> Bundle(std::span<const std::string> pieces, uint32_t per_bundle) {
  std::vector<std::string> bundles;
  while (!pieces.empty()) {
    const auto taken = pieces.first(std::min<size_t>(pieces.size(), per_bundle));
    pieces = pieces.subspan(taken.size());
    std::string& bundle = bundles.emplace_back();
    uint32_t end = 0;
    for (const std::string& piece : taken) {
      end += static_cast<uint32_t>(piece.size());
      trace::AppendLittle(bundle, end);
    }
    for (const std::string& piece : taken) bundle += piece;
  }
  return bundles;
}

absl::StatusOr<std::string_view> PieceOfBundle(std::string_view bundle, uint32_t count,
                                               uint32_t number) {
  const auto broken = [] { return absl::DataLossError("pieces of a sealed row are not readable"); };
  trace::ByteCursor cursor(bundle);
  uint32_t begin = 0;
  uint32_t end = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = 0;
    if (!cursor.Read(at)) return broken();
    if (i < number) begin = at;
    if (i == number) end = at;
  }
  const size_t header = size_t{count} * sizeof(uint32_t);
  if (number >= count || end < begin || header + end > bundle.size()) return broken();
  return bundle.substr(header + begin, end - begin);
}

}  // namespace nanolane::store
