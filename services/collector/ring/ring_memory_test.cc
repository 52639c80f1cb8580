#include "services/collector/ring/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "catch2/catch.hpp"

namespace nanolane::collector {
namespace {

constexpr RingOptions kSmall = {.page_count = 4,
                                .facts_bytes = 4096,
                                .kinds = wire::kKindKernel,
                                .session = {1, 2, 3},
                                .duration_ns = 1000,
                                .writer_epoch = 7};

// A copy of a ring's bytes in a memory file of `bytes`, with the seals.
int CopyOf(const RingMemory& ring, size_t bytes, int seals) {
  const int copy = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(copy >= 0);
  REQUIRE(write(copy, &ring.header(), sizeof(wire::RingHeader)) > 0);
  REQUIRE(ftruncate(copy, static_cast<off_t>(bytes)) == 0);
  REQUIRE(fcntl(copy, F_ADD_SEALS, seals) == 0);
  return copy;
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

TEST_CASE("a ring is adopted with the geometry that it was made with") {
  const auto made = RingMemory::Create(kSmall);
  REQUIRE(made.ok());
  (*made)->page(3)[wire::kPageBytes - 1] = std::byte{42};
  const auto adopted = RingMemory::Adopt(dup((*made)->descriptor()));
  REQUIRE(adopted.ok());
  CHECK((*adopted)->page_count() == 4);
  CHECK((*adopted)->facts_bytes() == 4096);
  CHECK((*adopted)->kinds() == wire::kKindKernel);
  CHECK((*adopted)->session() == kSmall.session);
  CHECK((*adopted)->duration_ns() == 1000);
  CHECK((*adopted)->header().writer_epoch.load() == 7);
  CHECK((*adopted)->page(3)[wire::kPageBytes - 1] == std::byte{42});
}

TEST_CASE("nobody can change the size of a ring") {
  const auto ring = RingMemory::Create(kSmall);
  REQUIRE(ring.ok());
  CHECK(ftruncate((*ring)->descriptor(), 4096) != 0);
  CHECK(ftruncate((*ring)->descriptor(), 1 << 30) != 0);
}

TEST_CASE("rings out of bounds are not made") {
  RingOptions options = kSmall;
  options.page_count = wire::kMaxPages + 1;
  CHECK(absl::IsInvalidArgument(RingMemory::Create(options).status()));
  options = kSmall;
  options.facts_bytes = wire::kMaxFactsBytes + 8;
  CHECK(absl::IsInvalidArgument(RingMemory::Create(options).status()));
  options = kSmall;
  options.facts_bytes = 4097;
  CHECK(absl::IsInvalidArgument(RingMemory::Create(options).status()));
  options = kSmall;
  options.duration_ns = wire::kLongestCaptureNs + 1;
  CHECK(absl::IsInvalidArgument(RingMemory::Create(options).status()));
}

TEST_CASE("a ring whose size could change is refused") {
  const auto ring = RingMemory::Create(kSmall);
  REQUIRE(ring.ok());
  const size_t bytes = wire::RingBytes(4, 4096);
  REQUIRE(RingMemory::Adopt(CopyOf(**ring, bytes, kSeals)).ok());
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, 0)).status()));
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, F_SEAL_GROW)).status()));
}

TEST_CASE("a ring whose size is not what its header says is refused") {
  const auto ring = RingMemory::Create(kSmall);
  REQUIRE(ring.ok());
  const size_t bytes = wire::RingBytes(4, 4096);
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes - 1, kSeals)).status()));
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, 16, kSeals)).status()));
  (*ring)->header().page_count = 5;
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, kSeals)).status()));
  (*ring)->header().page_count = 0xFFFFFFFF;
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, kSeals)).status()));
}

TEST_CASE("what is no ring of this protocol is refused") {
  const auto ring = RingMemory::Create(kSmall);
  REQUIRE(ring.ok());
  const size_t bytes = wire::RingBytes(4, 4096);
  (*ring)->header().magic ^= 1;
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, kSeals)).status()));
  (*ring)->header().magic ^= 1;
  (*ring)->header().protocol += 1;
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(CopyOf(**ring, bytes, kSeals)).status()));
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[1]);
  CHECK(absl::IsInvalidArgument(RingMemory::Adopt(ends[0]).status()));
}

}  // namespace nanolane::collector
