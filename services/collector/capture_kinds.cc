#include "services/collector/capture_kinds.h"

#include <array>
#include <string_view>

#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

namespace v1 = nanolane::collector::v1;
namespace wire = inject::wire;

struct Kind {
  v1::CaptureKind kind;
  uint32_t bit;
  std::string_view name;
};

constexpr std::array<Kind, 8> kKinds = {{
    {v1::CAPTURE_KIND_KERNEL, wire::kKindKernel, "kernel"},
    {v1::CAPTURE_KIND_MEMCPY, wire::kKindMemcpy, "memcpy"},
    {v1::CAPTURE_KIND_MEMSET, wire::kKindMemset, "memset"},
    {v1::CAPTURE_KIND_SYNC, wire::kKindSync, "sync"},
    {v1::CAPTURE_KIND_NVTX, wire::kKindNvtx, "nvtx"},
    {v1::CAPTURE_KIND_MEMORY, wire::kKindMemory, "memory"},
    {v1::CAPTURE_KIND_FRAMEWORK_MEMORY, wire::kKindFrameworkMemory, "framework-memory"},
    {v1::CAPTURE_KIND_LAUNCH, wire::kKindLaunch, "launch"},
}};

}  // namespace

absl::StatusOr<uint32_t> KindBits(const google::protobuf::RepeatedField<int>& kinds) {
  if (kinds.empty()) return wire::kAllKinds;
  uint32_t bits = 0;
  for (const int wanted : kinds) {
    const uint32_t before = bits;
    for (const Kind& kind : kKinds) {
      if (kind.kind == wanted) bits |= kind.bit;
    }
    if (bits == before) {
      return absl::InvalidArgumentError(base::StrCat("kind ", wanted, " is not known, or twice"));
    }
  }
  return bits;
}

std::vector<v1::CaptureKind> KindsOf(uint32_t bits) {
  std::vector<v1::CaptureKind> kinds;
  for (const Kind& kind : kKinds) {
    if ((bits & kind.bit) != 0) kinds.push_back(kind.kind);
  }
  return kinds;
}

std::string KindNames(uint32_t bits) {
  std::string names;
  for (const Kind& kind : kKinds) {
    if ((bits & kind.bit) == 0) continue;
    if (!names.empty()) names += ',';
    names += kind.name;
  }
  return names;
}

absl::StatusOr<v1::CaptureKind> KindByName(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind.kind;
  }
  return absl::InvalidArgumentError(
      base::StrCat("no kind \"", name, "\"; there are ", KindNames(wire::kAllKinds)));
}

}  // namespace nanolane::collector
