// The closed vocabularies of the event model. Their numbers lie on disk and on the wire
// (docs/storage-format.md): never change or reuse one, only add.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nanolane::trace {

enum class EventKind : uint8_t {
  kUnspecified = 0,
  kKernel = 1,
  kMemcpy = 2,
  kMemset = 3,
  kSync = 4,
  kNvtx = 5,  // ranges and marks of NVTX, and the framework annotations that look like them
  kMemory = 6,
  kApi = 7,
};
inline constexpr int kEventKindCount = 8;

enum class LaneKind : uint8_t {
  kUnspecified = 0,
  kStream = 1,           // kernels, copies and memsets of one stream
  kStreamSync = 2,       // waits for one stream
  kNoStreamSync = 3,     // waits for no known stream
  kNvtxThread = 4,       // ranges pushed by one thread
  kNvtxStream = 5,       // ranges that the framework projected onto a stream
  kThreadApi = 6,        // calls of one thread
  kMemoryDriver = 7,     // what the driver allocated on one GPU
  kMemoryFramework = 8,  // what the framework's allocator holds on one GPU
};

enum class CopyDirection : uint8_t {
  kNone = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kHostToHost = 4,
  kPeerToPeer = 5,
};

enum class MemoryKind : uint8_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
};

enum class SyncKind : uint8_t {
  kNone = 0,
  kStream = 1,
  kEvent = 2,
  kContext = 3,
  kDevice = 4,
  kStreamWaitEvent = 5,  // an instant on the waiting stream, never a blocked span
};

// What an op does, from its name: the shared vocabulary of colours, filters and statistics.
enum class OpFamily : uint8_t {
  kOther = 0,
  kGemm = 1,
  kAttention = 2,
  kNorm = 3,
  kReduce = 4,
  kElementwise = 5,
  kCommunication = 6,
  kConvolution = 7,
  kSoftmax = 8,
  kEmbedding = 9,
  kOptimizer = 10,
  kIndexing = 11,  // gather, scatter, concatenate, transpose, cast
  kSortScan = 12,
  kRandom = 13,
};
inline constexpr int kOpFamilyCount = 14;

// Names as they appear in JSON and tables: "kernel", "memcpy", …
std::string_view ToString(EventKind kind);
std::string_view ToString(LaneKind kind);
std::string_view ToString(CopyDirection direction);  // "H2D", "D2H", "D2D", "H2H", "P2P", ""
std::string_view ToString(MemoryKind kind);          // "pageable", …, ""
std::string_view ToString(SyncKind kind);            // "stream", …, "stream wait event", ""
std::string_view ToString(OpFamily family);          // "gemm", …, "other"

// What a timeline colours by and aggregates into: one closed set over kinds, families, directions.
enum class Category : uint8_t {
  kOtherKernel = 0,
  kGemm = 1,
  kAttention = 2,
  kNormReduce = 3,
  kElementwise = 4,
  kCommunication = 5,
  kH2D = 6,
  kD2H = 7,
  kD2D = 8,
  kOtherCopy = 9,
  kMemset = 10,
  kSync = 11,
  kNvtx = 12,
  kMemory = 13,
  kApi = 14,
};
inline constexpr int kCategoryCount = 15;

Category CategoryOf(EventKind kind, OpFamily family, CopyDirection direction);
std::string_view ToString(Category category);  // "gemm", "norm, reduce", "H2D", …

}  // namespace nanolane::trace
