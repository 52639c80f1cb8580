#include "services/collector/inject/activity_decoder.h"

#include <cstring>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/launch_calls.h"
#include "services/collector/inject/log.h"
#include "services/collector/inject/name_facts.h"

namespace nanolane::inject {
namespace {

// The newest layouts that the headers have; every field below lies at the same offset in all
// versions that CuptiLibrary knows.
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy5;
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
using Memset = CUpti_ActivityMemset4;
using Memory = CUpti_ActivityMemory3;

template <typename Record>
const Record& As(const CUpti_Activity& activity) {
  return reinterpret_cast<const Record&>(activity);
}

}  // namespace

void ActivityDecoder::Start(const CuptiLibrary& cupti, const ClockMap& clock) {
  cupti_ = &cupti;
  clock_ = &clock;
  last_correlation_ = 0;
  on_ns_ = INT64_MIN;
  off_ns_ = INT64_MAX;
  records_ = 0;
  kernels_ = 0;
  next_ = nullptr;
  next_waits_ = false;
}

bool ActivityDecoder::DecodeCompleted(const CaptureUse& use, bool drop, int64_t until_ns) {
  drop_ = drop;
  CompletedBuffer buffer;
  while (MonotonicNs() < until_ns && NextCompleted(&buffer)) {
    for (;;) {
      if (!next_waits_) {
        const CUptiResult result =
            cupti_->get_next_record(buffer.memory, buffer.valid_bytes, &next_);
        if (result != CUPTI_SUCCESS) {
          if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
            Log("a buffer ends with a record that cannot be read (%d)", static_cast<int>(result));
            use->ring->CountLoss(wire::LossReason::kCuptiDropped, kSlotKernel);
          }
          break;
        }
      }
      next_waits_ = Decode(use, *next_) == Verdict::kNoRoom;
      if (next_waits_) return false;
    }
    next_ = nullptr;
    RecycleBuffer(buffer);
  }
  return true;
}

ActivityDecoder::Verdict ActivityDecoder::Decode(const CaptureUse& use,
                                                 const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return DecodeKernel(use, activity);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return DecodeCopy(use, As<Memcpy>(activity), -1, -1);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return DecodePeerCopy(use, activity);
    case CUPTI_ACTIVITY_KIND_MEMSET: return DecodeMemset(use, activity);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return DecodeMemory(use, activity);
    case CUPTI_ACTIVITY_KIND_CONTEXT: DecodeContext(use, activity); return Verdict::kDone;
    default: return Verdict::kDone;
  }
}

bool ActivityDecoder::MayWrite(const CaptureUse& use, size_t bytes) const {
  return drop_ || use->ring->Reserve(use.thread(), bytes) != nullptr;
}

template <typename Record, typename Fill>
ActivityDecoder::Verdict ActivityDecoder::Write(const CaptureUse& use, wire::RecordType type,
                                                uint32_t kind, Fill fill) {
  if (drop_) {
    use.Write<Record>(type, kind, fill);
  } else if (!use.TryWrite<Record>(type, kind, fill)) {
    return Verdict::kNoRoom;
  }
  ++records_;
  return Verdict::kDone;
}

// Of a call before the first that was listened to, or after the last.
bool ActivityDecoder::IsOutside(uint32_t correlation, uint64_t start) const {
  if (correlation == 0) return false;
  if (WasEarly(correlation)) return true;
  const uint32_t first = FirstCorrelation();
  if (first != 0 && static_cast<int32_t>(correlation - first) < 0) return true;
  if (last_correlation_ != 0) return static_cast<int32_t>(correlation - last_correlation_) > 0;
  // No call was seen at all.
  return off_ns_ != INT64_MAX && clock_->ToMonotonic(start) >= off_ns_;
}

bool ActivityDecoder::HasTimes(const CaptureUse& use, uint64_t start, uint64_t end,
                               uint32_t kind) const {
  if (start != 0 && end >= start) return true;
  use->ring->CountLoss(wire::LossReason::kInvalidTime, kind);
  return false;
}

ActivityDecoder::Verdict ActivityDecoder::DecodeKernel(const CaptureUse& use,
                                                       const CUpti_Activity& activity) {
  const auto& from = As<Kernel>(activity);
  if (IsOutside(from.correlationId, from.start)) return Verdict::kDone;
  const auto count = [&] {
    if (from.graphId == 0 && FirstCorrelation() != 0) ++kernels_;
  };
  if (!HasTimes(use, from.start, from.end, kSlotKernel)) {
    count();
    return Verdict::kDone;
  }
  // Before its name, whose loss is to be counted once.
  if (!MayWrite(use, sizeof(wire::KernelRecord))) return Verdict::kNoRoom;
  const uint32_t name = from.name != nullptr ? NameFact(*use->ring, use.thread(), from.name,
                                                        strlen(from.name), kSlotKernel)
                                             : 0;
  const Verdict verdict = Write<wire::KernelRecord>(
      use, wire::RecordType::kKernel, kSlotKernel, [&](wire::KernelRecord& record) {
        record.start_ns = clock_->ToMonotonic(from.start);
        record.duration_ns = clock_->ToMonotonic(from.end) - record.start_ns;
        record.correlation = from.correlationId;
        record.name = name;
        record.device = from.deviceId;
        record.context = from.contextId;
        record.stream = from.streamId;
        record.grid[0] = static_cast<uint32_t>(from.gridX);
        record.grid[1] = static_cast<uint32_t>(from.gridY);
        record.grid[2] = static_cast<uint32_t>(from.gridZ);
        record.block[0] = static_cast<uint32_t>(from.blockX);
        record.block[1] = static_cast<uint32_t>(from.blockY);
        record.block[2] = static_cast<uint32_t>(from.blockZ);
        record.registers_per_thread = from.registersPerThread;
        record.static_shared_bytes = static_cast<uint32_t>(from.staticSharedMemory);
        record.dynamic_shared_bytes = static_cast<uint32_t>(from.dynamicSharedMemory);
        record.graph_node = from.graphNodeId;
      });
  if (verdict == Verdict::kDone) count();
  return verdict;
}

template <typename From>
ActivityDecoder::Verdict ActivityDecoder::DecodeCopy(const CaptureUse& use, const From& from,
                                                     int32_t source_device,
                                                     int32_t destination_device) {
  if (IsOutside(from.correlationId, from.start)) return Verdict::kDone;
  if (!HasTimes(use, from.start, from.end, kSlotMemcpy)) return Verdict::kDone;
  return Write<wire::MemcpyRecord>(
      use, wire::RecordType::kMemcpy, kSlotMemcpy, [&](wire::MemcpyRecord& record) {
        record.start_ns = clock_->ToMonotonic(from.start);
        record.duration_ns = clock_->ToMonotonic(from.end) - record.start_ns;
        record.bytes = from.bytes;
        record.correlation = from.correlationId;
        record.device = from.deviceId;
        record.context = from.contextId;
        record.stream = from.streamId;
        record.graph_node = from.graphNodeId;
        record.copy_kind = from.copyKind;
        record.source_kind = from.srcKind;
        record.destination_kind = from.dstKind;
        record.is_async = (from.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0;
        record.source_device = source_device;
        record.destination_device = destination_device;
      });
}

ActivityDecoder::Verdict ActivityDecoder::DecodePeerCopy(const CaptureUse& use,
                                                         const CUpti_Activity& activity) {
  const auto& from = As<PeerCopy>(activity);
  return DecodeCopy(use, from, static_cast<int32_t>(from.srcDeviceId),
                    static_cast<int32_t>(from.dstDeviceId));
}

ActivityDecoder::Verdict ActivityDecoder::DecodeMemset(const CaptureUse& use,
                                                       const CUpti_Activity& activity) {
  const auto& from = As<Memset>(activity);
  if (IsOutside(from.correlationId, from.start)) return Verdict::kDone;
  if (!HasTimes(use, from.start, from.end, kSlotMemset)) return Verdict::kDone;
  return Write<wire::MemsetRecord>(
      use, wire::RecordType::kMemset, kSlotMemset, [&](wire::MemsetRecord& record) {
        record.start_ns = clock_->ToMonotonic(from.start);
        record.duration_ns = clock_->ToMonotonic(from.end) - record.start_ns;
        record.bytes = from.bytes;
        record.correlation = from.correlationId;
        record.device = from.deviceId;
        record.context = from.contextId;
        record.stream = from.streamId;
        record.graph_node = from.graphNodeId;
        record.value = from.value;
        record.memory_kind = static_cast<uint8_t>(from.memoryKind);
        record.is_async = (from.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0 ? 1 : 0;
      });
}

ActivityDecoder::Verdict ActivityDecoder::DecodeMemory(const CaptureUse& use,
                                                       const CUpti_Activity& activity) {
  const auto& from = As<Memory>(activity);
  if (!HasTimes(use, from.timestamp, from.timestamp, kSlotMemory)) return Verdict::kDone;
  // Its time is the call's own; the calls themselves are not listened to.
  const int64_t time_ns = clock_->ToMonotonic(from.timestamp);
  if (time_ns < on_ns_ || time_ns >= off_ns_) return Verdict::kDone;
  const bool frees = from.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  return Write<wire::MemoryRecord>(use, wire::RecordType::kMemory, kSlotMemory,
                                   [&](wire::MemoryRecord& record) {
                                     const auto bytes = static_cast<int64_t>(from.bytes);
                                     record.time_ns = time_ns;
                                     record.bytes = frees ? -bytes : bytes;
                                     record.address = from.address;
                                     record.pool = from.memoryPoolConfig.address;
                                     record.correlation = from.correlationId;
                                     record.device = from.deviceId;
                                     record.context = from.contextId;
                                     record.stream = from.streamId;
                                     record.memory_kind = static_cast<uint8_t>(from.memoryKind);
                                     record.is_async = from.isAsync != 0 ? 1 : 0;
                                   });
}

void ActivityDecoder::DecodeContext(const CaptureUse& use, const CUpti_Activity& activity) {
  const auto& from = As<CUpti_ActivityContext>(activity);
  wire::ContextFact fact{};
  fact.header.type = static_cast<uint16_t>(wire::FactType::kContext);
  fact.header.id = from.contextId;
  fact.device = from.deviceId;
  if (!use->ring->AppendFact(&fact, sizeof(fact))) {
    use->ring->CountLoss(wire::LossReason::kFactsFull, kSlotKernel);
  }
}

}  // namespace nanolane::inject
