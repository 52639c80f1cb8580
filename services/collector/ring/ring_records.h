// Records as the reader of a ring hands them out: copies of known type and size, with the place
// that they came from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "services/collector/inject/wire.h"

namespace nanolane::collector {

namespace wire = inject::wire;

// Where a record stands. The claim tells one filling of a page from the next.
struct RecordRef {
  uint32_t page = 0;
  uint32_t offset = 0;
  uint64_t claim = 0;  // 0: nowhere

  bool operator==(const RecordRef&) const = default;
};

// What is known of a record type.
struct RecordShape {
  size_t size = 0;  // 0: no such type
  size_t kind = 0;  // bit number of wire::Kinds
};

inline RecordShape ShapeOf(uint16_t type) {
  static constexpr std::array<RecordShape, 9> kShapes = {{
      {},
      {sizeof(wire::LaunchRecord), 7},
      {sizeof(wire::KernelRecord), 0},
      {sizeof(wire::MemcpyRecord), 1},
      {sizeof(wire::MemsetRecord), 2},
      {sizeof(wire::SyncRecord), 3},
      {sizeof(wire::NvtxRecord), 4},
      {sizeof(wire::MemoryRecord), 5},
      {sizeof(wire::FrameworkMemoryRecord), 6},
  }};
  return type < kShapes.size() ? kShapes[type] : RecordShape();
}

struct RecordView {
  RecordRef ref;
  wire::RecordType type = wire::RecordType::kLaunch;
  uint32_t thread = 0;  // that filled the page
  // A launch alone: device work of it was stored before this collector started.
  bool stored = false;
  const uint64_t* words = nullptr;  // valid during the call that hands it out

  template <typename Record>
  const Record& As() const {
    return *reinterpret_cast<const Record*>(words);
  }
};

struct FactView {
  wire::FactHeader header = {};
  std::string_view text;            // of a text entry
  const uint64_t* words = nullptr;  // the whole entry; valid during the call that hands it out

  template <typename Fact>
  const Fact& As() const {
    return *reinterpret_cast<const Fact*>(words);
  }
};

class RingVisitor {
 public:
  virtual ~RingVisitor() = default;
  virtual void TakeFact(const FactView& fact) = 0;
  virtual void TakeRecord(const RecordView& record) = 0;
};

}  // namespace nanolane::collector
