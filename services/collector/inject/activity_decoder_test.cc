#include "services/collector/inject/activity_decoder.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/launch_calls.h"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

constexpr uint64_t kStart = 1'000'000;

size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(CUpti_ActivityMemory3);
    case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(CUpti_ActivityContext);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(CUpti_ActivityOverhead);
    default: return 0;
  }
}

// As CUPTI walks a buffer.
CUptiResult GetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const found = reinterpret_cast<CUpti_Activity*>(next);
  if (SizeOf(found->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}

CUptiResult GetTimestamp(uint64_t* time) {
  *time = static_cast<uint64_t>(MonotonicNs());
  return CUPTI_SUCCESS;
}

const CuptiLibrary& Library() {
  static const CuptiLibrary cupti = [] {
    CuptiLibrary fake{};
    fake.get_next_record = &GetNextRecord;
    fake.get_timestamp = &GetTimestamp;
    return fake;
  }();
  return cupti;
}

template <typename Record>
Record Timed(CUpti_ActivityKind kind, uint32_t correlation) {
  Record record;
  memset(static_cast<void*>(&record), 0, sizeof(record));
  record.kind = kind;
  record.start = kStart;
  record.end = kStart + 500;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityKernel9 Kernel(uint32_t correlation, const char* name = "gemm") {
  auto kernel = Timed<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, correlation);
  kernel.name = name;
  return kernel;
}

// A decoder with a capture to write into, and buffers to read from.
struct Rig {
  explicit Rig(const OpenCapture::Options& options = {}) : capture(options) {
    static CallbackTable table;
    PrepareLaunchCalls(Library(), table);
    PrepareBuffers(true);
    REQUIRE(clock.Start(Library()));
    decoder.Start(Library(), clock);
    // As the agent's thread.
    capture.ring().SetPrivileged(CurrentThread());
  }
  ~Rig() {
    CompletedBuffer buffer;
    while (NextCompleted(&buffer)) RecycleBuffer(buffer);
    FreeBuffers();
  }

  template <typename... Records>
  void Complete(const Records&... records) {
    uint8_t* const memory = TakeBuffer();
    REQUIRE(memory != nullptr);
    size_t used = 0;
    const auto add = [&](const auto& record) {
      memcpy(memory + used, static_cast<const void*>(&record), sizeof(record));
      used += sizeof(record);
    };
    (add(records), ...);
    CompleteBuffer(memory, used);
  }
  bool Decode(bool drop = false, int64_t until_ns = INT64_MAX) {
    const CaptureUse use;
    return decoder.DecodeCompleted(use, drop, until_ns);
  }
  template <typename Record>
  std::vector<const Record*> Read(wire::RecordType type) {
    return capture.Read().Of<Record>(type);
  }

  OpenCapture capture;
  ClockMap clock;
  ActivityDecoder decoder;
};

void EnterLaunch(uint32_t correlation) {
  CUpti_CallbackData call{};
  call.callbackSite = CUPTI_API_ENTER;
  call.correlationId = correlation;
  OnApiCall(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
  // The thread is in no call any more.
  CurrentThread()->call_open = false;
}

}  // namespace

TEST_CASE("kernels keep what CUPTI says of them") {
  Rig rig;
  CUpti_ActivityKernel9 kernel = Kernel(41);
  kernel.deviceId = 2;
  kernel.contextId = 3;
  kernel.streamId = 7;
  kernel.gridX = 10;
  kernel.gridY = 11;
  kernel.gridZ = 12;
  kernel.blockX = 128;
  kernel.blockY = 2;
  kernel.blockZ = 1;
  kernel.registersPerThread = 96;
  kernel.staticSharedMemory = 1'024;
  kernel.dynamicSharedMemory = 49'152;
  CUpti_ActivityKernel9 serial = Kernel(42, nullptr);
  serial.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  rig.Complete(kernel, serial);
  CHECK(rig.Decode());
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  REQUIRE(kernels.size() == 2);
  const wire::KernelRecord& got = *kernels[0];
  CHECK(rig.capture.contents().names.at(got.name) == "gemm");
  CHECK(got.start_ns == static_cast<int64_t>(kStart));
  CHECK(got.duration_ns == 500);
  CHECK(got.correlation == 41);
  CHECK(got.device == 2);
  CHECK(got.context == 3);
  CHECK(got.stream == 7);
  CHECK(std::vector<uint32_t>(got.grid, got.grid + 3) == std::vector<uint32_t>{10, 11, 12});
  CHECK(std::vector<uint32_t>(got.block, got.block + 3) == std::vector<uint32_t>{128, 2, 1});
  CHECK(got.registers_per_thread == 96);
  CHECK(got.static_shared_bytes == 1'024);
  CHECK(got.dynamic_shared_bytes == 49'152);
  CHECK(got.graph_node == 0);
  CHECK(kernels[1]->name == 0);
  CHECK(rig.decoder.records() == 2);
}

TEST_CASE("copies, peer copies and memsets keep what CUPTI says of them") {
  Rig rig;
  auto copy = Timed<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, 5);
  copy.bytes = 1ULL << 33;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.deviceId = 1;
  copy.contextId = 2;
  copy.streamId = 3;
  copy.graphNodeId = 99;
  auto peer = Timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 6);
  peer.bytes = 64;
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.srcDeviceId = 4;
  peer.dstDeviceId = 5;
  auto set = Timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 7);
  set.bytes = 4'096;
  set.value = 0xAB;
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  set.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  set.streamId = 8;
  rig.Complete(copy, peer, set);
  CHECK(rig.Decode());

  const auto copies = rig.Read<wire::MemcpyRecord>(wire::RecordType::kMemcpy);
  REQUIRE(copies.size() == 2);
  CHECK(copies[0]->bytes == 1ULL << 33);
  CHECK(copies[0]->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  CHECK(copies[0]->source_kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  CHECK(copies[0]->destination_kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  CHECK(copies[0]->is_async == 1);
  CHECK(copies[0]->device == 1);
  CHECK(copies[0]->context == 2);
  CHECK(copies[0]->stream == 3);
  CHECK(copies[0]->graph_node == 99);
  CHECK(copies[0]->source_device == -1);
  CHECK(copies[0]->destination_device == -1);
  CHECK(copies[1]->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  CHECK(copies[1]->is_async == 0);
  CHECK(copies[1]->source_device == 4);
  CHECK(copies[1]->destination_device == 5);
  const auto sets = rig.capture.contents().Of<wire::MemsetRecord>(wire::RecordType::kMemset);
  REQUIRE(sets.size() == 1);
  CHECK(sets[0]->bytes == 4'096);
  CHECK(sets[0]->value == 0xAB);
  CHECK(sets[0]->memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
  CHECK(sets[0]->is_async == 1);
  CHECK(sets[0]->stream == 8);
}

TEST_CASE("allocations and frees differ in their sign") {
  Rig rig;
  CUpti_ActivityMemory3 memory;
  memset(static_cast<void*>(&memory), 0, sizeof(memory));
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.timestamp = kStart;
  memory.address = 0x7000;
  memory.bytes = 512;
  memory.isAsync = 1;
  memory.deviceId = 1;
  memory.streamId = 4;
  memory.correlationId = 3;
  memory.memoryPoolConfig.address = 0x9000;
  CUpti_ActivityMemory3 freed = memory;
  freed.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  CUpti_ActivityMemory3 timeless = memory;
  timeless.timestamp = 0;
  rig.Complete(memory, freed, timeless);
  CHECK(rig.Decode());
  const auto changes = rig.Read<wire::MemoryRecord>(wire::RecordType::kMemory);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]->time_ns == static_cast<int64_t>(kStart));
  CHECK(changes[0]->bytes == 512);
  CHECK(changes[0]->address == 0x7000);
  CHECK(changes[0]->pool == 0x9000);
  CHECK(changes[0]->is_async == 1);
  CHECK(changes[0]->device == 1);
  CHECK(changes[0]->stream == 4);
  CHECK(changes[1]->bytes == -512);
  CHECK(rig.capture.Lost(wire::LossReason::kInvalidTime, kSlotMemory) == 1);
}

TEST_CASE("a context is a fact") {
  Rig rig;
  CUpti_ActivityContext context;
  memset(static_cast<void*>(&context), 0, sizeof(context));
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 6;
  context.deviceId = 3;
  rig.Complete(context);
  CHECK(rig.Decode());
  rig.capture.Read();
  wire::ContextFact fact;
  REQUIRE(rig.capture.contents().last_fact.size() * 8 == sizeof(fact));
  memcpy(&fact, rig.capture.contents().last_fact.data(), sizeof(fact));
  CHECK(fact.header.type == static_cast<uint16_t>(wire::FactType::kContext));
  CHECK(fact.header.id == 6);
  CHECK(fact.device == 3);
}

TEST_CASE("records whose times make no span are counted, by kind") {
  Rig rig;
  CUpti_ActivityKernel9 never = Kernel(1);
  never.start = 0;
  never.end = 0;
  CUpti_ActivityKernel9 backwards = Kernel(2);
  backwards.end = backwards.start - 1;
  CUpti_ActivityKernel9 instant = Kernel(3);
  instant.end = instant.start;
  auto copy = Timed<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, 4);
  copy.start = 0;
  auto peer = Timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 5);
  peer.end = 1;
  auto set = Timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 6);
  set.end = 0;
  rig.Complete(never, backwards, instant, copy, peer, set);
  CHECK(rig.Decode());
  CHECK(rig.capture.Read().records.size() == 1);
  CHECK(rig.capture.Lost(wire::LossReason::kInvalidTime, kSlotKernel) == 2);
  CHECK(rig.capture.Lost(wire::LossReason::kInvalidTime, kSlotMemcpy) == 2);
  CHECK(rig.capture.Lost(wire::LossReason::kInvalidTime, kSlotMemset) == 1);
}

TEST_CASE("what was launched after the last call of a capture is not of it") {
  Rig rig;
  const uint32_t last = GENERATE(100U, 0xFFFFFFF0U);
  rig.decoder.SetEnd(kStart, last);
  const auto after = [](auto record) {
    record.start = kStart + 1;
    return record;
  };
  // Whenever it ran; numbers may have wrapped.
  rig.Complete(Kernel(last - 1), Kernel(last + 1), after(Kernel(last - 2)), after(Kernel(last)));
  rig.Complete(after(Kernel(last + 2)), after(Kernel(last + 30)),
               after(Timed<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, last + 20)),
               after(Timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, last + 21)));
  CHECK(rig.Decode());
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[0]->correlation == last - 1);
  CHECK(kernels[1]->correlation == last - 2);
  CHECK(kernels[2]->correlation == last);
  CHECK(rig.capture.contents().records.size() == 3);
  // Left out, not lost.
  CHECK(rig.capture.Lost(wire::LossReason::kInvalidTime, kSlotKernel) == 0);
}

TEST_CASE("without a launch that was seen the end alone decides") {
  Rig rig;
  CUpti_ActivityKernel9 after = Kernel(7);
  after.start = kStart + 1;
  rig.Complete(after);
  CHECK(rig.Decode());  // no end is set yet
  rig.decoder.SetEnd(kStart + 1, 0);
  rig.Complete(Kernel(8), after);
  CHECK(rig.Decode());
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]->correlation == 7);
  CHECK(kernels[1]->correlation == 8);
}

TEST_CASE("no buffer is begun once its time is over") {
  Rig rig;
  rig.Complete(Kernel(1));
  CHECK(rig.Decode(/*drop=*/false, MonotonicNs()));
  CHECK(rig.capture.Read().records.empty());
  CHECK(rig.Decode());
  CHECK(rig.capture.Read().records.size() == 1);
}

TEST_CASE("kernels are counted whose launch was seen, but for those of graphs") {
  Rig rig;
  rig.Complete(Kernel(9));
  CHECK(rig.Decode());
  CHECK(rig.decoder.kernels() == 0);  // no launch was seen yet
  EnterLaunch(10);
  CUpti_ActivityKernel9 of_graph = Kernel(11);
  of_graph.graphId = 4;
  of_graph.graphNodeId = 1ULL << 40;
  CUpti_ActivityKernel9 timeless = Kernel(12);
  timeless.start = 0;
  rig.Complete(Kernel(9), Kernel(10), of_graph, timeless, Kernel(13));
  CHECK(rig.Decode());
  CHECK(rig.decoder.kernels() == 3);
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  // One that was launched before the first that was seen is not of the capture.
  REQUIRE(kernels.size() == 4);
  CHECK(kernels[2]->graph_node == 1ULL << 40);
}

TEST_CASE("a full ring stops the decoder, which goes on where it was") {
  Rig rig({.pages = 1, .facts_bytes = 4096});
  constexpr uint32_t kFits = wire::kPageBytes / sizeof(wire::KernelRecord);
  uint32_t correlation = 1;
  for (uint32_t i = 0; i < kFits / 4 + 2; ++i) {
    rig.Complete(Kernel(correlation), Kernel(correlation + 1), Kernel(correlation + 2),
                 Kernel(correlation + 3));
    correlation += 4;
    // Buffers are bounded; the ring is what is full here.
    if (i % 100 == 99) REQUIRE(rig.Decode());
  }
  CHECK_FALSE(rig.Decode());
  CHECK_FALSE(rig.Decode());
  CHECK(rig.decoder.records() == kFits);
  {
    const CaptureUse use;
    rig.capture.ring().CloseOwnPage(use.thread());
  }
  CHECK(rig.capture.Read().records.size() == kFits);
  CHECK(rig.Decode());
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  REQUIRE(kernels.size() == correlation - 1);
  for (uint32_t i = 0; i < kernels.size(); ++i) REQUIRE(kernels[i]->correlation == i + 1);
  CHECK(rig.capture.Lost(wire::LossReason::kRingFull, kSlotKernel) == 0);
}

TEST_CASE("what waits for room is dropped and counted when it may not wait any longer") {
  Rig rig({.pages = 1});
  constexpr uint32_t kFits = wire::kPageBytes / sizeof(wire::KernelRecord);
  for (uint32_t i = 0; i < kFits; ++i) {
    rig.Complete(Kernel(i + 1));
    REQUIRE(rig.Decode());
  }
  rig.Complete(Kernel(kFits + 1), Timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 1));
  CHECK_FALSE(rig.Decode());
  CHECK(rig.Decode(/*drop=*/true));
  CHECK(rig.capture.Lost(wire::LossReason::kRingFull, kSlotKernel) == 1);
  CHECK(rig.capture.Lost(wire::LossReason::kRingFull, kSlotMemset) == 1);
  CHECK(rig.capture.Read().records.size() == kFits);
}

TEST_CASE("a name that has no room is lost once, however often its kernel waits") {
  Rig rig({.pages = 1, .facts_bytes = 64});
  constexpr uint32_t kFits = wire::kPageBytes / sizeof(wire::KernelRecord);
  for (uint32_t i = 0; i < kFits; ++i) {
    rig.Complete(Kernel(i + 1));
    REQUIRE(rig.Decode());
  }
  const std::string name(100, 'x');
  rig.Complete(Kernel(kFits + 1, name.c_str()));
  for (int i = 0; i < 5; ++i) REQUIRE_FALSE(rig.Decode());
  CHECK(rig.Decode(/*drop=*/true));
  CHECK(rig.capture.Lost(wire::LossReason::kFactsFull, kSlotKernel) <= 1);
}

TEST_CASE("a buffer that cannot be read to its end is counted, and the next one read") {
  Rig rig;
  CUpti_ActivityKernel9 broken = Kernel(2);
  broken.kind = CUPTI_ACTIVITY_KIND_FORCE_INT;
  rig.Complete(Kernel(1), broken, Kernel(3));
  CUpti_ActivityOverhead other;
  memset(static_cast<void*>(&other), 0, sizeof(other));
  other.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  rig.Complete(other, Kernel(4));
  CHECK(rig.Decode());
  const auto kernels = rig.Read<wire::KernelRecord>(wire::RecordType::kKernel);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1]->correlation == 4);
  CHECK(rig.capture.Lost(wire::LossReason::kCuptiDropped, kSlotKernel) == 1);
}

}  // namespace nanolane::inject
