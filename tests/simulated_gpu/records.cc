#include "tests/simulated_gpu/records.h"

#include <unistd.h>

#include <cstring>

#include "tests/simulated_gpu/device.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {
namespace {

constexpr int64_t kCuda128 = 26;
constexpr int64_t kCuda130 = 130000;

struct Times {
  uint64_t start;
  uint64_t end;
};

Times ClientTimes(const Work& work) {
  if (work.start_ns == 0 && work.end_ns == 0) return {0, 0};
  return {ToClientTime(work.start_ns), ToClientTime(work.end_ns)};
}

// The fields that all records of device work share.
template <typename Record>
void FillDeviceWork(const Work& work, Record& record) {
  const Times times = ClientTimes(work);
  record.kind = work.kind;
  record.start = times.start;
  record.end = times.end;
  record.deviceId = work.device;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.correlationId = work.correlation;
  record.graphNodeId = work.graph_node;
  record.graphId = work.graph;
}

void Fill(const Work& work, CUpti_ActivityKernel10& record) {
  FillDeviceWork(work, record);
  record.completed = record.end;
  record.name = work.kernel.name;
  record.gridX = static_cast<int32_t>(work.kernel.grid.x);
  record.gridY = static_cast<int32_t>(work.kernel.grid.y);
  record.gridZ = static_cast<int32_t>(work.kernel.grid.z);
  record.blockX = static_cast<int32_t>(work.kernel.block.x);
  record.blockY = static_cast<int32_t>(work.kernel.block.y);
  record.blockZ = static_cast<int32_t>(work.kernel.block.z);
  record.registersPerThread = 32;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = static_cast<int32_t>(work.kernel.shared_bytes);
  record.gridId = work.correlation;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
}

void FillCopy(const Work& work, auto& record) {
  FillDeviceWork(work, record);
  record.copyKind = work.copy.copy_kind;
  record.srcKind = work.copy.source_kind;
  record.dstKind = work.copy.destination_kind;
  record.flags = work.is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.bytes = work.bytes;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
}

void Fill(const Work& work, CUpti_ActivityMemcpy6& record) {
  FillCopy(work, record);
  record.copyCount = 1;
}

void Fill(const Work& work, CUpti_ActivityMemcpyPtoP4& record) {
  FillCopy(work, record);
  record.srcDeviceId = work.copy.source_device;
  record.dstDeviceId = work.copy.destination_device;
  record.srcContextId = ContextOf(static_cast<int>(work.copy.source_device)).id;
  record.dstContextId = ContextOf(static_cast<int>(work.copy.destination_device)).id;
}

void Fill(const Work& work, CUpti_ActivityMemset4& record) {
  FillDeviceWork(work, record);
  record.value = work.set.value;
  record.bytes = work.bytes;
  record.flags = work.is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

void Fill(const Work& work, CUpti_ActivityMemory4& record) {
  record.kind = work.kind;
  record.memoryOperationType = work.memory.operation;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = work.correlation;
  record.address = work.address;
  record.bytes = work.bytes;
  record.timestamp = ClientTimes(work).start;
  record.processId = static_cast<uint32_t>(getpid());
  record.deviceId = work.device;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.isAsync = work.is_async ? 1 : 0;
  if (work.memory.pool == 0) return;
  record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.address = work.memory.pool;
  record.memoryPoolConfig.pool.size = work.memory.pool_size;
  record.memoryPoolConfig.utilizedSize = work.memory.pool_used;
}

void Fill(const Work& work, CUpti_ActivityMemoryPool3& record) {
  record.kind = work.kind;
  record.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = work.correlation;
  record.processId = static_cast<uint32_t>(getpid());
  record.deviceId = work.device;
  record.address = work.memory.pool;
  record.timestamp = ClientTimes(work).start;
}

void Fill(const Work& work, CUpti_ActivitySynchronization2& record) {
  const Times times = ClientTimes(work);
  record.kind = work.kind;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(work.sync.type);
  record.start = times.start;
  record.end = times.end;
  record.correlationId = work.correlation;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.cudaEventId = work.sync.event;
  record.cudaEventSyncId = work.sync.sync_id;
}

void Fill(const Work& work, CUpti_ActivityCudaEvent2& record) {
  record.kind = work.kind;
  record.correlationId = work.correlation;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.eventId = work.sync.event;
  record.deviceId = work.device;
  record.cudaEventSyncId = work.sync.sync_id;
}

void Fill(const Work& work, CUpti_ActivityAPI& record) {
  const Times times = ClientTimes(work);
  record.kind = work.kind;
  record.cbid = work.api.cbid;
  record.start = times.start;
  record.end = times.end;
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = work.api.thread;
  record.correlationId = work.correlation;
  record.returnValue = work.api.result;
}

void Fill(const Work& work, CUpti_ActivityDevice5& record) {
  const Device& device = DeviceAt(static_cast<int>(work.device));
  record.kind = work.kind;
  record.globalMemorySize = device.memory_bytes;
  record.numThreadsPerWarp = 32;
  record.numMultiprocessors = 16;
  record.maxThreadsPerBlock = 1024;
  record.computeCapabilityMajor = 9;
  record.id = work.device;
  std::memcpy(record.uuid.bytes, device.uuid, sizeof(device.uuid));
  record.name = device.name;
  record.isCudaVisible = 1;
}

void Fill(const Work& work, CUpti_ActivityContext3& record) {
  record.kind = work.kind;
  record.contextId = work.context;
  record.deviceId = work.device;
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<uint16_t>(kDefaultStreamId);
  record.numMultiprocessors = 16;
}

void Fill(const Work& work, CUpti_ActivityStream& record) {
  record.kind = work.kind;
  record.contextId = work.context;
  record.streamId = work.stream;
  record.flag = work.stream == kDefaultStreamId ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
                                                : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  record.correlationId = work.correlation;
}

template <typename Record>
void Write(const Work& work, uint8_t* to) {
  static_assert(sizeof(Record) <= kMaxRecordBytes);
  Record record;
  std::memset(&record, 0, sizeof(record));
  Fill(work, record);
  std::memcpy(to, &record, sizeof(record));
}

}  // namespace

// Each version's record is the next one's without its last fields, so cutting gives the old one.
size_t RecordBytes(CUpti_ActivityKind kind, int64_t version) {
  const bool old = version < kCuda128;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return version < kCuda130 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return old ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return old ? sizeof(CUpti_ActivitySynchronization) : sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return old ? sizeof(CUpti_ActivityCudaEvent) : sizeof(CUpti_ActivityCudaEvent2);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return old ? sizeof(CUpti_ActivityMemory3) : sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return old ? sizeof(CUpti_ActivityContext) : sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return old ? sizeof(CUpti_ActivityDevice4) : sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return sizeof(CUpti_ActivityMemoryPool3);
    case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    default: return 0;
  }
}

size_t WriteRecord(const Work& work, int64_t version, uint8_t* to) {
  switch (work.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL: Write<CUpti_ActivityKernel10>(work, to); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: Write<CUpti_ActivityMemcpy6>(work, to); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: Write<CUpti_ActivityMemcpyPtoP4>(work, to); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: Write<CUpti_ActivityMemset4>(work, to); break;
    case CUPTI_ACTIVITY_KIND_MEMORY2: Write<CUpti_ActivityMemory4>(work, to); break;
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: Write<CUpti_ActivityMemoryPool3>(work, to); break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      Write<CUpti_ActivitySynchronization2>(work, to);
      break;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: Write<CUpti_ActivityCudaEvent2>(work, to); break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: Write<CUpti_ActivityAPI>(work, to); break;
    case CUPTI_ACTIVITY_KIND_DEVICE: Write<CUpti_ActivityDevice5>(work, to); break;
    case CUPTI_ACTIVITY_KIND_CONTEXT: Write<CUpti_ActivityContext3>(work, to); break;
    case CUPTI_ACTIVITY_KIND_STREAM: Write<CUpti_ActivityStream>(work, to); break;
    default: return 0;
  }
  return RecordBytes(work.kind, version);
}

}  // namespace nanolane::sim
