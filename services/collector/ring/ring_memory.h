// The shared memory of one capture: made by the collector and handed to the process, or handed
// back by the process to a collector that has started anew.
//
// What makes it safe to look at: the size is sealed, so that no access can fault, and the geometry
// was read once, checked against the true size, and is kept here; nobody reads it from the header
// again. Everything behind the geometry stays hostile. Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

namespace wire = inject::wire;

using SessionKeyBytes = std::array<uint8_t, sizeof(wire::SessionKey)>;

struct RingOptions {
  uint32_t page_count = wire::kDefaultPages;
  uint32_t facts_bytes = wire::kDefaultFactsBytes;  // a multiple of 8
  uint32_t kinds = wire::kAllKinds;                 // wire::Kinds that are asked for
  SessionKeyBytes session = {};
  int64_t duration_ns = wire::kLongestCaptureNs;
  uint64_t writer_epoch = 1;
};

class RingMemory {
 public:
  // INVALID_ARGUMENT: a geometry or a duration out of bounds; RESOURCE_EXHAUSTED or INTERNAL: the
  // kernel does not give the memory.
  static absl::StatusOr<std::unique_ptr<RingMemory>> Create(const RingOptions& options);

  // Takes the descriptor over, also on failure. INVALID_ARGUMENT: not a ring of this protocol, or
  // one that could still change its size.
  static absl::StatusOr<std::unique_ptr<RingMemory>> Adopt(int descriptor);

  ~RingMemory();
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  int descriptor() const { return descriptor_; }

  // As read once.
  uint32_t page_count() const { return options_.page_count; }
  uint32_t facts_bytes() const { return options_.facts_bytes; }
  uint32_t kinds() const { return options_.kinds; }
  const SessionKeyBytes& session() const { return options_.session; }
  int64_t duration_ns() const { return options_.duration_ns; }

  // Hostile ground. Pages count from 0.
  wire::RingHeader& header() const;
  wire::PageHeader& page_header(uint32_t page) const;
  std::byte* page(uint32_t page) const;
  std::byte* facts() const;

 private:
  RingMemory(int descriptor, const RingOptions& options)
      : descriptor_(descriptor), options_(options) {}
  absl::Status Map();

  const int descriptor_;
  const RingOptions options_;
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace nanolane::collector
