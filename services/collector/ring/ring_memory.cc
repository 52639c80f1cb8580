#include "services/collector/ring/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// What stands before the first atomic of wire::RingHeader.
struct Geometry {
  uint32_t magic;
  uint16_t protocol;
  uint16_t unused;
  uint32_t page_bytes;
  uint32_t page_count;
  uint32_t facts_bytes;
  uint32_t kinds;
  wire::SessionKey session;
  int64_t duration_ns;
};
static_assert(sizeof(Geometry) == offsetof(wire::RingHeader, writer_epoch));

absl::Status SystemError(const char* what) {
  const int error = errno;
  const std::string text = base::StrCat(what, ": ", std::strerror(error));
  const bool exhausted = error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC;
  return exhausted ? absl::ResourceExhaustedError(text) : absl::InternalError(text);
}

absl::Status CheckBounds(uint32_t page_count, uint32_t facts_bytes, int64_t duration_ns) {
  if (page_count == 0 || page_count > wire::kMaxPages) {
    return absl::InvalidArgumentError(
        base::StrCat("a ring of ", page_count, " pages; 1 to ", wire::kMaxPages));
  }
  if (facts_bytes == 0 || facts_bytes > wire::kMaxFactsBytes || facts_bytes % 8 != 0) {
    return absl::InvalidArgumentError(base::StrCat("a ring with ", facts_bytes,
                                                   " bytes for facts; a multiple of 8 up to ",
                                                   wire::kMaxFactsBytes));
  }
  if (duration_ns <= 0 || duration_ns > wire::kLongestCaptureNs) {
    return absl::InvalidArgumentError(
        base::StrCat("a capture of ", duration_ns, " ns; 1 to ", wire::kLongestCaptureNs));
  }
  return absl::OkStatus();
}

absl::StatusOr<RingOptions> ReadGeometry(int descriptor) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) return absl::InvalidArgumentError("a ring that is not a sealed memory file");
  if ((seals & kSizeSeals) != kSizeSeals) {
    return absl::InvalidArgumentError("a ring whose size is not sealed");
  }
  Geometry geometry = {};
  if (pread(descriptor, &geometry, sizeof(geometry), 0) != ssize_t{sizeof(geometry)}) {
    return absl::InvalidArgumentError("a ring that is smaller than its header");
  }
  if (geometry.magic != wire::kMagic || geometry.protocol != wire::kProtocol) {
    return absl::InvalidArgumentError(
        base::StrCat("a ring of protocol ", geometry.protocol, "; this is ", wire::kProtocol));
  }
  if (geometry.page_bytes != wire::kPageBytes) {
    return absl::InvalidArgumentError(base::StrCat("a ring with pages of ", geometry.page_bytes,
                                                   " bytes; they have ", wire::kPageBytes));
  }
  RETURN_IF_ERROR(CheckBounds(geometry.page_count, geometry.facts_bytes, geometry.duration_ns));
  struct stat file = {};
  if (fstat(descriptor, &file) != 0) return SystemError("fstat of a ring");
  const size_t expected = wire::RingBytes(geometry.page_count, geometry.facts_bytes);
  if (file.st_size < 0 || static_cast<size_t>(file.st_size) != expected) {
    return absl::InvalidArgumentError(base::StrCat("a ring of ", static_cast<int64_t>(file.st_size),
                                                   " bytes whose header says ", expected));
  }
  RingOptions options = {.page_count = geometry.page_count,
                         .facts_bytes = geometry.facts_bytes,
                         .kinds = geometry.kinds & wire::kAllKinds,
                         .duration_ns = geometry.duration_ns};
  std::copy(std::begin(geometry.session), std::end(geometry.session), options.session.begin());
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RingMemory>> RingMemory::Create(const RingOptions& options) {
  RETURN_IF_ERROR(CheckBounds(options.page_count, options.facts_bytes, options.duration_ns));
  const int descriptor = memfd_create("nanolane-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return SystemError("memfd_create");
  std::unique_ptr<RingMemory> ring(new RingMemory(descriptor, options));
  const size_t bytes = wire::RingBytes(options.page_count, options.facts_bytes);
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return SystemError("ftruncate");
  RETURN_IF_ERROR(ring->Map());

  // The file is new: all other fields are 0, which is what they begin with.
  wire::RingHeader* header = new (ring->base_) wire::RingHeader;
  header->magic = wire::kMagic;
  header->protocol = wire::kProtocol;
  header->unused = 0;
  header->page_bytes = wire::kPageBytes;
  header->page_count = options.page_count;
  header->facts_bytes = options.facts_bytes;
  header->kinds = options.kinds;
  std::copy(options.session.begin(), options.session.end(), header->session);
  header->duration_ns = options.duration_ns;
  header->writer_epoch.store(options.writer_epoch, std::memory_order_release);

  if (fcntl(descriptor, F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    return SystemError("sealing a ring");
  }
  return ring;
}

absl::StatusOr<std::unique_ptr<RingMemory>> RingMemory::Adopt(int descriptor) {
  absl::StatusOr<RingOptions> options = ReadGeometry(descriptor);
  if (!options.ok()) {
    close(descriptor);
    return std::move(options).status();
  }
  std::unique_ptr<RingMemory> ring(new RingMemory(descriptor, *options));
  RETURN_IF_ERROR(ring->Map());
  return ring;
}

absl::Status RingMemory::Map() {
  const size_t bytes = wire::RingBytes(options_.page_count, options_.facts_bytes);
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (base == MAP_FAILED) return SystemError("mapping a ring");
  base_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
  return absl::OkStatus();
}

RingMemory::~RingMemory() {
  if (base_ != nullptr) munmap(base_, bytes_);
  close(descriptor_);
}

wire::RingHeader& RingMemory::header() const { return *reinterpret_cast<wire::RingHeader*>(base_); }

wire::PageHeader& RingMemory::page_header(uint32_t page) const {
  return reinterpret_cast<wire::PageHeader*>(base_ + wire::PageHeadersOffset())[page];
}

std::byte* RingMemory::page(uint32_t page) const {
  return base_ + wire::PagesOffset(options_.page_count, options_.facts_bytes) +
         size_t{page} * wire::kPageBytes;
}

std::byte* RingMemory::facts() const { return base_ + wire::FactsOffset(options_.page_count); }

}  // namespace nanolane::collector
