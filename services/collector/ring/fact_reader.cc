#include "services/collector/ring/fact_reader.h"

#include <cstring>

#include "services/collector/ring/shared_words.h"

namespace nanolane::collector {
namespace {

// Least size of an entry of the type; 0: no such type.
size_t LeastSizeOf(uint16_t type) {
  switch (static_cast<wire::FactType>(type)) {
    case wire::FactType::kName:
    case wire::FactType::kNote: return sizeof(wire::FactHeader);
    case wire::FactType::kDevice: return sizeof(wire::DeviceFact);
    case wire::FactType::kContext: return sizeof(wire::ContextFact);
    case wire::FactType::kClock: return sizeof(wire::ClockFact);
    case wire::FactType::kMemoryLevel: return sizeof(wire::MemoryLevelFact);
  }
  return 0;
}

constexpr size_t kLargestEntry = sizeof(wire::FactHeader) + wire::kMaxNameBytes + 8;

}  // namespace

uint32_t FactReader::Fetch(uint64_t end) {
  if (end - consumed_ < sizeof(wire::FactHeader)) return 0;
  const std::byte* const from = ring_.facts() + consumed_;
  wire::FactHeader header;
  entry_.resize(sizeof(header) / sizeof(uint64_t));
  CopyWords(from, sizeof(header), entry_.data());
  std::memcpy(&header, entry_.data(), sizeof(header));
  const size_t least = LeastSizeOf(header.type);
  const bool fits = least != 0 && header.size % 8 == 0 && header.size >= least &&
                    header.size <= kLargestEntry && header.size <= end - consumed_ &&
                    header.text_bytes <= header.size - sizeof(header);
  if (!fits) return 0;
  // The header as it was checked, and what is behind it.
  entry_.resize(header.size / sizeof(uint64_t));
  CopyWords(from + sizeof(header), header.size - sizeof(header),
            entry_.data() + sizeof(header) / sizeof(uint64_t));
  return header.size;
}

void FactReader::Read(RingVisitor& visitor) {
  if (corrupt_) return;
  const uint64_t end = ring_.header().facts_used.load(std::memory_order_acquire);
  if (end > ring_.facts_bytes() || end % 8 != 0 || end < consumed_) {
    corrupt_ = true;
    return;
  }
  while (consumed_ < end) {
    const uint32_t size = Fetch(end);
    if (size == 0) {
      corrupt_ = true;
      return;
    }
    consumed_ += size;
    FactView fact;
    std::memcpy(&fact.header, entry_.data(), sizeof(fact.header));
    const auto* const bytes = reinterpret_cast<const char*>(entry_.data());
    fact.text = std::string_view(bytes + sizeof(fact.header), fact.header.text_bytes);
    fact.words = entry_.data();
    visitor.TakeFact(fact);
  }
}

}  // namespace nanolane::collector
