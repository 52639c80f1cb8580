// What the injection library and the collector say to each other: control messages over a Unix
// SOCK_SEQPACKET socket, and one shared-memory ring per capture (docs/capture.md has the pictures).
//
// Plain structs of fixed layout; every one is copied out before it is looked at, and every index,
// size and count that comes from the other side is checked against what the reader itself knows.
// Change a layout only together with kProtocol.
//
// Times are int64 ns of CLOCK_MONOTONIC.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nanolane::inject::wire {

inline constexpr uint32_t kMagic = 0x4E4C4E31;  // "1NLN"
inline constexpr uint16_t kProtocol = 1;
inline constexpr const char* kDefaultSocket = "/run/nanolane/collector.sock";
inline constexpr int64_t kLongestCaptureNs = 600'000'000'000;  // what both sides refuse to exceed

// Control messages ---------------------------------------------------------------------------

enum class MessageType : uint16_t {
  // From the library.
  kHello = 1,    // first; with the ring's descriptor when it still holds one
  kGpus = 2,     // once CUDA answers, and again when more is learnt
  kStarted = 3,  // answers kStart
  kRefused = 4,  // answers kStart
  kStopped = 5,  // the capture has ended; the ring says how
  // From the collector.
  kStart = 16,  // with the ring's descriptor
  kStop = 17,
  kRelease = 18,  // everything in the ring is safe: let go of it
};

struct MessageHeader {
  uint32_t magic;
  uint16_t protocol;
  uint16_t type;  // MessageType
  uint32_t size;  // of the whole message
  uint32_t unused;
};

using SessionKey = uint8_t[16];

enum class LibraryState : uint8_t { kDormant = 0, kRecording = 1, kHoldingRing = 2 };

struct Hello {
  MessageHeader header;
  uint32_t library_version;
  uint32_t cupti_version;  // as cuptiGetVersion says; 0: not loaded yet
  uint8_t state;           // LibraryState
  uint8_t has_nvtx;        // the library is NVTX's injection library too
  uint8_t unused[6];
  SessionKey session;  // unless dormant
  char project[128];   // $NANOLANE_PROJECT, ended by 0
};

struct Gpu {
  int32_t index;
  uint32_t unused;
  uint8_t uuid[16];
  uint64_t memory_bytes;
  char name[96];
};
inline constexpr uint32_t kMaxGpus = 16;

struct Gpus {
  MessageHeader header;
  uint32_t count;
  uint32_t unused;
  Gpu gpus[kMaxGpus];
};

// What to record, as bits.
enum Kinds : uint32_t {
  kKindKernel = 1U << 0,
  kKindMemcpy = 1U << 1,
  kKindMemset = 1U << 2,
  kKindSync = 1U << 3,
  kKindNvtx = 1U << 4,
  kKindMemory = 1U << 5,           // the driver's allocations
  kKindFrameworkMemory = 1U << 6,  // the framework's allocator
  kKindLaunch = 1U << 7,           // launch calls of the device work above
  kAllKinds = (1U << 8) - 1,
};

struct Start {
  MessageHeader header;
  SessionKey session;
  int64_t duration_ns;  // at most kLongestCaptureNs; the library ends the capture by itself
  uint32_t kinds;       // Kinds
  uint32_t unused;
};

struct Stop {
  MessageHeader header;
  SessionKey session;
};

struct Release {
  MessageHeader header;
  SessionKey session;
};

struct Started {
  MessageHeader header;
  SessionKey session;
  int64_t on_ns;  // complete from here on
  uint32_t cupti_version;
  uint32_t kinds;    // what could be turned on
  int64_t setup_ns;  // how long turning on took
};

enum class RefusalCode : uint32_t {
  kUnspecified = 0,
  kBusy = 1,          // another capture runs here
  kOtherTool = 2,     // another tool holds CUPTI; `text` says which
  kNoCupti = 3,       // no libcupti that can be loaded
  kUnknownCupti = 4,  // record layouts of that version are not known
  kBadRing = 5,
  kCuptiError = 6,
};

struct Refused {
  MessageHeader header;
  SessionKey session;
  uint32_t code;  // RefusalCode
  uint32_t unused;
  char text[464];  // for a person, ended by 0
};

struct Stopped {
  MessageHeader header;
  SessionKey session;
};

inline constexpr size_t kMaxMessageBytes = sizeof(Gpus);

// The ring -----------------------------------------------------------------------------------
//
//   RingHeader | PageHeader × page_count | facts (facts_bytes) | page_count pages of page_bytes
//
// The collector makes the memfd, writes geometry and session, seals its size and hands it over.
// A thread of the process takes a free page, fills it with records from the front, publishing
// `used` after each, and closes it. The collector reads pages in the order of their claims, and
// frees a closed one once all of it is safe elsewhere. Facts (names, devices, clocks) are appended
// for as long as the capture runs and are never taken away, so that a collector that starts anew
// can read what is left.

inline constexpr uint32_t kPageBytes = 64 << 10;
inline constexpr uint32_t kDefaultPages = 1024;
inline constexpr uint32_t kDefaultFactsBytes = 16 << 20;
inline constexpr uint32_t kMaxPages = 16384;
inline constexpr uint32_t kMaxFactsBytes = 256 << 20;

enum class RingState : uint32_t {
  kFresh = 0,
  kRecording = 1,
  kStopped = 2,  // no more records will come
};

enum class StopReason : uint32_t {
  kNone = 0,
  kAsked = 1,
  kDeadline = 2,
  kProcessExit = 3,
  kCuptiFailed = 4,  // CUPTI ended itself
  kOtherTool = 5,    // another tool began to record, and was made way for
};

// What can be lost inside the process, counted by kind.
enum class LossReason : uint32_t {
  kRingFull = 0,       // no free page: the collector did not keep up, or was away
  kBuffersFull = 1,    // CUPTI's records waited for more than the library may hold
  kCuptiDropped = 2,   // CUPTI says that it dropped records
  kInvalidTime = 3,    // records without or with impossible times
  kNvtxTooDeep = 4,    // more open ranges in one thread than are kept
  kFactsFull = 5,      // no room for names: events kept, their names not
  kNoThreadState = 6,  // more threads than are kept apart
  kCount = 7,
};
inline constexpr size_t kLossReasons = static_cast<size_t>(LossReason::kCount);
// Index of counters: the bit number of Kinds.
inline constexpr size_t kKindSlots = 8;

struct RingHeader {
  // The collector's, before it hands the ring over.
  uint32_t magic;
  uint16_t protocol;
  uint16_t unused;
  uint32_t page_bytes;
  uint32_t page_count;
  uint32_t facts_bytes;
  uint32_t kinds;  // Kinds that were asked for
  SessionKey session;
  int64_t duration_ns;
  // The collector's, while it reads: the epoch that record marks belong to.
  std::atomic<uint64_t> writer_epoch;
  // The library's.
  alignas(64) std::atomic<uint32_t> state;  // RingState
  std::atomic<uint32_t> stop_reason;        // StopReason
  std::atomic<int64_t> on_ns;
  std::atomic<int64_t> off_ns;
  std::atomic<uint32_t> cupti_version;
  std::atomic<uint32_t> kinds_on;  // Kinds that could be turned on
  alignas(64) std::atomic<uint64_t> next_claim;
  alignas(64) std::atomic<uint64_t> facts_used;
  // Records written, and events lost.
  alignas(64) std::atomic<uint64_t> produced[kKindSlots];
  std::atomic<uint64_t> lost[kLossReasons][kKindSlots];
};
inline constexpr size_t kRingHeaderBytes = 4096;
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

enum class PageState : uint32_t { kFree = 0, kOwned = 1, kClosed = 2 };

struct PageHeader {
  std::atomic<uint32_t> state;  // PageState: the library takes, the collector frees
  std::atomic<uint32_t> used;   // bytes of whole records
  std::atomic<uint64_t> claim;  // number of this taking, from 1
  uint32_t thread;              // operating-system id of the thread that fills it
  uint32_t unused[11];
};
static_assert(sizeof(PageHeader) == 64);

inline constexpr size_t PageHeadersOffset() { return kRingHeaderBytes; }
inline constexpr size_t FactsOffset(uint32_t page_count) {
  const size_t end = kRingHeaderBytes + sizeof(PageHeader) * size_t{page_count};
  return (end + 4095) / 4096 * 4096;
}
inline constexpr size_t PagesOffset(uint32_t page_count, uint32_t facts_bytes) {
  return FactsOffset(page_count) + (size_t{facts_bytes} + 4095) / 4096 * 4096;
}
inline constexpr size_t RingBytes(uint32_t page_count, uint32_t facts_bytes) {
  return PagesOffset(page_count, facts_bytes) + size_t{page_count} * kPageBytes;
}

// Records ------------------------------------------------------------------------------------

enum class RecordType : uint16_t {
  kLaunch = 1,
  kKernel = 2,
  kMemcpy = 3,
  kMemset = 4,
  kSync = 5,
  kNvtx = 6,
  kMemory = 7,
  kFrameworkMemory = 8,
};

struct RecordHeader {
  uint16_t type;  // RecordType
  uint16_t size;  // of the whole record, a multiple of 8
  // The collector's: sequence of the append that holds the event; 0: none yet.
  std::atomic<uint32_t> mark;
};

enum class ApiDomain : uint8_t { kRuntime = 0, kDriver = 1 };

// A call that issues device work; joined to it by the correlation. Written when the call returns,
// if it succeeded.
struct LaunchRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;
  uint32_t correlation;
  uint16_t cbid;   // CUPTI's callback id
  uint8_t domain;  // ApiDomain
  uint8_t unused;
  uint32_t stack;  // 0: none
  uint32_t unused2;
};
static_assert(sizeof(LaunchRecord) == 40);

struct KernelRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;
  uint32_t correlation;
  uint32_t name;  // fact id; 0: not kept
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers_per_thread;
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint64_t graph_node;  // 0: not of a graph
};
static_assert(sizeof(KernelRecord) == 88);

// Fields as CUPTI numbers them (CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind).
struct MemcpyRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;
  uint64_t bytes;
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint64_t graph_node;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t is_async;
  int32_t source_device;       // of a peer copy; else -1
  int32_t destination_device;  // of a peer copy; else -1
  uint32_t unused;
};
static_assert(sizeof(MemcpyRecord) == 72);

struct MemsetRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;
  uint64_t bytes;
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint64_t graph_node;
  uint32_t value;
  uint8_t memory_kind;  // as CUPTI numbers it
  uint8_t is_async;
  uint16_t unused;
};
static_assert(sizeof(MemsetRecord) == 64);

// As trace::SyncKind numbers them.
enum class SyncType : uint8_t {
  kStream = 1,
  kEvent = 2,
  kContext = 3,
  kDevice = 4,
  kStreamWaitEvent = 5,
};

struct SyncRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;   // of the call, also where it only enqueues (kStreamWaitEvent)
  int64_t stream;        // waited for, or for kStreamWaitEvent the waiting one; -1: not known
  int64_t event_stream;  // kStreamWaitEvent: where the event was recorded; -1: not known
  uint32_t context;      // 0: not known
  int32_t device;        // -1: not known
  uint32_t correlation;
  uint16_t cbid;
  uint8_t domain;     // ApiDomain
  uint8_t sync_type;  // SyncType
};
static_assert(sizeof(SyncRecord) == 56);

enum NvtxFlags : uint32_t {
  kNvtxMark = 1U << 0,          // an instant
  kNvtxProcessRange = 1U << 1,  // nvtxRangeStart/End: may overlap others of its thread
  kNvtxBeganBefore = 1U << 2,   // open when the capture began: start_ns is the capture's start
  kNvtxStillOpen = 1U << 3,     // open when the capture ended: the end is the capture's end
};

struct NvtxRecord {
  RecordHeader header;
  int64_t start_ns;
  int64_t duration_ns;
  uint32_t name;    // fact id; 0: not kept
  uint32_t domain;  // fact id of its name; 0: the default domain
  uint32_t thread;  // that began it
  uint32_t flags;   // NvtxFlags
  uint32_t color;   // ARGB; 0: none
  uint32_t category;
};
static_assert(sizeof(NvtxRecord) == 48);

// One change of what the driver has allocated. Kinds as CUPTI numbers them.
struct MemoryRecord {
  RecordHeader header;
  int64_t time_ns;
  int64_t bytes;  // negative: freed
  uint64_t address;
  uint64_t pool;  // address of its pool; 0: none
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint8_t memory_kind;
  uint8_t is_async;
  uint16_t unused;
  uint32_t unused2;
};
static_assert(sizeof(MemoryRecord) == 64);

// One change of what the framework's allocator holds.
struct FrameworkMemoryRecord {
  RecordHeader header;
  int64_t time_ns;
  int64_t bytes;  // negative: freed
  uint64_t address;
  uint64_t allocated_bytes;  // after the change
  uint64_t reserved_bytes;   // after the change
  int32_t device;            // as the process numbers it
  uint32_t unused;
};
static_assert(sizeof(FrameworkMemoryRecord) == 56);

inline constexpr size_t kMaxRecordBytes = 256;

// Facts --------------------------------------------------------------------------------------

enum class FactType : uint16_t {
  kName = 1,         // `id`, text: of a kernel, a range or a domain
  kDevice = 2,       // `id` is the device's number; DeviceFact
  kContext = 3,      // `id` is the context's; ContextFact
  kClock = 4,        // ClockFact
  kMemoryLevel = 5,  // `id` is the device's number; MemoryLevelFact
  kNote = 6,         // text for a person: what could not be had, and why
};

struct FactHeader {
  uint32_t size;  // of the whole entry with padding, a multiple of 8
  uint16_t type;  // FactType
  uint16_t unused;
  uint32_t id;
  uint32_t text_bytes;  // of a text entry: bytes after this header
};
static_assert(sizeof(FactHeader) == 16);

struct DeviceFact {
  FactHeader header;
  uint8_t uuid[16];
  uint64_t memory_bytes;
  char name[96];
};

struct ContextFact {
  FactHeader header;
  uint32_t device;
  uint32_t unused;
};

// One reading of the clocks.
struct ClockFact {
  FactHeader header;
  int64_t monotonic_ns;
  int64_t realtime_ns;
};

// What was in use on the device when the capture began, by everybody.
struct MemoryLevelFact {
  FactHeader header;
  int64_t time_ns;
  uint64_t used_bytes;
  uint64_t total_bytes;
};

inline constexpr uint32_t kMaxNameBytes = 32 << 10;  // longer names are cut

}  // namespace nanolane::inject::wire
