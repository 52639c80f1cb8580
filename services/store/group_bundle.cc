#include "services/store/group_bundle.h"

#include "libs/trace/little_endian.h"

namespace nanolane::store {

std::string BundleGroups(std::span<const std::string> groups) {
  std::string bundle;
  uint32_t end = 0;
  for (const std::string& group : groups) {
    end += static_cast<uint32_t>(group.size());
    trace::AppendLittle(bundle, end);
  }
  for (const std::string& group : groups) bundle += group;
  return bundle;
}

absl::StatusOr<std::string_view> GroupOfBundle(std::string_view bundle, uint32_t count,
                                               uint32_t number) {
  const auto broken = [] { return absl::DataLossError("groups of a sealed row are not readable"); };
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
