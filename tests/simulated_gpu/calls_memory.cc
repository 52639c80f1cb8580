// Allocations.
#include <map>
#include <mutex>

#include "tests/simulated_gpu/sim_clock.h"
#include "tests/simulated_gpu/traced_call.h"

namespace nanolane::sim {
namespace {

constexpr uint64_t kFirstAddress = 0x7f00'0000'0000;
constexpr uint64_t kAlignment = 512;
constexpr uint32_t kNoStream = 0xFFFFFFFF;

struct Block {
  uint64_t bytes;
  uint32_t device;
  Pool* pool;
};

struct Heap {
  std::mutex mutex;
  std::map<uint64_t, Block> blocks;
  uint64_t next_address = kFirstAddress;
};

Heap& GetHeap() {
  static auto* const heap = new Heap;
  return *heap;
}

// 0: the device has no room.
uint64_t Take(const Block& block) {
  Device& device = DeviceAt(static_cast<int>(block.device));
  Heap& heap = GetHeap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  if (block.bytes > device.memory_bytes - device.used_bytes) return 0;
  const uint64_t address = heap.next_address;
  heap.next_address += (block.bytes / kAlignment + 1) * kAlignment;
  heap.blocks.emplace(address, block);
  device.used_bytes += block.bytes;
  if (block.pool == nullptr) return address;
  block.pool->used_bytes += block.bytes;
  block.pool->size_bytes = std::max<uint64_t>(block.pool->size_bytes, block.pool->used_bytes);
  return address;
}

// bytes 0: no block is there.
Block GiveBack(uint64_t address) {
  Heap& heap = GetHeap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  const auto found = heap.blocks.find(address);
  if (found == heap.blocks.end()) return {};
  const Block block = found->second;
  heap.blocks.erase(found);
  DeviceAt(static_cast<int>(block.device)).used_bytes -= block.bytes;
  if (block.pool != nullptr) block.pool->used_bytes -= block.bytes;
  return block;
}

struct Change {
  CUpti_ActivityMemoryOperationType operation;
  uint64_t address;
  Block block;
  const Stream* stream;  // null: not an asynchronous one
  uint32_t correlation;
};

void RecordChange(const Change& change) {
  if (!activity::IsOn(CUPTI_ACTIVITY_KIND_MEMORY2)) return;
  Work work;
  work.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  work.correlation = change.correlation;
  work.start_ns = work.end_ns = MonotonicNow();
  work.device = change.block.device;
  work.context = ContextOf(static_cast<int>(change.block.device)).id;
  work.stream = change.stream == nullptr ? kNoStream : change.stream->id;
  work.is_async = change.stream != nullptr;
  work.address = change.address;
  work.bytes = change.block.bytes;
  const Pool* pool = change.block.pool;
  work.memory = {pool == nullptr ? 0 : pool->address, pool == nullptr ? 0 : pool->used_bytes.load(),
                 pool == nullptr ? 0 : pool->size_bytes.load(), change.operation};
  activity::Record(work);
}

constexpr int kErrorMemoryAllocation = 2;

int Allocate(const Block& block, const Stream* stream, uint64_t& address, uint32_t correlation) {
  address = Take(block);
  if (address == 0) return kErrorMemoryAllocation;
  RecordChange(
      {CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, address, block, stream, correlation});
  return kSuccess;
}

int Release(uint64_t address, const Stream* stream, uint32_t correlation) {
  const Block block = GiveBack(address);
  if (block.bytes == 0) return kErrorInvalidValue;
  RecordChange({CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, address, block, stream, correlation});
  return kSuccess;
}

}  // namespace

Allocation Malloc(uint64_t bytes) {
  Init();
  Context& context = CurrentContext();
  Allocation allocation;
  const cudaMalloc_v3020_params runtime{reinterpret_cast<void**>(&allocation.address), bytes};
  const cuMemAlloc_v2_params driver{reinterpret_cast<CUdeviceptr*>(&allocation.address), bytes};
  allocation.call = Trace(
      {.runtime = &functions::kCudaMalloc,
       .runtime_parameters = &runtime,
       .driver = functions::kCuMemAlloc,
       .driver_parameters = &driver,
       .context = context},
      [&](uint32_t correlation) {
        return Allocate({bytes, context.device, nullptr}, nullptr, allocation.address, correlation);
      });
  return allocation;
}

Call Free(uint64_t address) {
  Init();
  const cudaFree_v3020_params runtime{reinterpret_cast<void*>(address)};
  const cuMemFree_v2_params driver{address};
  return Trace({.runtime = &functions::kCudaFree,
                .runtime_parameters = &runtime,
                .driver = functions::kCuMemFree,
                .driver_parameters = &driver,
                .context = CurrentContext()},
               [&](uint32_t correlation) { return Release(address, nullptr, correlation); });
}

Allocation MallocAsync(Stream& stream, uint64_t bytes, Pool* pool) {
  Allocation allocation;
  auto** const runtime_address = reinterpret_cast<void**>(&allocation.address);
  auto* const driver_address = reinterpret_cast<CUdeviceptr*>(&allocation.address);
  const cudaMallocAsync_v11020_params runtime{runtime_address, bytes, stream.Handle()};
  const cudaMallocFromPoolAsync_v11020_params runtime_pool{
      runtime_address, bytes, reinterpret_cast<cudaMemPool_t>(pool), stream.Handle()};
  const cuMemAllocAsync_params driver{driver_address, bytes, stream.Handle()};
  const cuMemAllocFromPoolAsync_params driver_pool{
      driver_address, bytes, reinterpret_cast<CUmemoryPool>(pool), stream.Handle()};
  Pool& used = pool == nullptr ? DefaultPool(stream.context.device) : *pool;
  const bool is_default = pool == nullptr;
  allocation.call = Trace(
      {.runtime = is_default ? &functions::kCudaMallocAsync : &functions::kCudaMallocFromPoolAsync,
       .runtime_parameters = is_default ? static_cast<const void*>(&runtime) : &runtime_pool,
       .driver = is_default ? functions::kCuMemAllocAsync : functions::kCuMemAllocFromPoolAsync,
       .driver_parameters = is_default ? static_cast<const void*>(&driver) : &driver_pool,
       .context = stream.context,
       .per_thread = stream.per_thread},
      [&](uint32_t correlation) {
        return Allocate({bytes, stream.context.device, &used}, &stream, allocation.address,
                        correlation);
      });
  return allocation;
}

Call FreeAsync(Stream& stream, uint64_t address) {
  const cudaFreeAsync_v11020_params runtime{reinterpret_cast<void*>(address), stream.Handle()};
  const cuMemFreeAsync_params driver{address, stream.Handle()};
  return Trace({.runtime = &functions::kCudaFreeAsync,
                .runtime_parameters = &runtime,
                .driver = functions::kCuMemFreeAsync,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread},
               [&](uint32_t correlation) { return Release(address, &stream, correlation); });
}

}  // namespace nanolane::sim
