// Copies and sets.
#include <cstddef>

#include "tests/simulated_gpu/sim_clock.h"
#include "tests/simulated_gpu/traced_call.h"

namespace nanolane::sim {
namespace {

constexpr int64_t kBytesPerMicrosecond = 20'000;
constexpr uint64_t kDeviceAddress = 0x7000'0000'0000;
constexpr uint64_t kHostAddress = 0x1000'0000;

// All driver copies have this layout; those that are not asynchronous end before the stream.
struct CopyParameters {
  uint64_t destination;
  uint64_t source;
  size_t bytes;
  CUstream stream;
};
static_assert(sizeof(CopyParameters) == sizeof(cuMemcpyHtoDAsync_v2_params));
static_assert(sizeof(CopyParameters) == sizeof(cuMemcpyDtoHAsync_v2_params));
static_assert(sizeof(CopyParameters) == sizeof(cuMemcpyDtoDAsync_v2_params));
static_assert(sizeof(CopyParameters) == sizeof(cuMemcpyAsync_params));
static_assert(offsetof(CopyParameters, stream) == sizeof(cuMemcpyHtoD_v2_params));

struct CopyFacts {
  CUpti_ActivityMemcpyKind kind;
  cudaMemcpyKind runtime_kind;
  bool from_host;
  bool to_host;
  const Function& driver;
  const Function& driver_async;
};

CopyFacts FactsOf(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice:
      return {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, cudaMemcpyHostToDevice,       true, false,
              functions::kCuMemcpyHtoD,        functions::kCuMemcpyHtoDAsync};
    case CopyKind::kDeviceToHost:
      return {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, cudaMemcpyDeviceToHost,       false, true,
              functions::kCuMemcpyDtoH,        functions::kCuMemcpyDtoHAsync};
    case CopyKind::kDeviceToDevice:
      return {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, cudaMemcpyDeviceToDevice,     false, false,
              functions::kCuMemcpyDtoD,        functions::kCuMemcpyDtoDAsync};
    case CopyKind::kHostToHost: break;
  }
  return {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, cudaMemcpyHostToHost, true, true, functions::kCuMemcpy,
          functions::kCuMemcpyAsync};
}

uint8_t MemoryKind(bool is_host, bool is_pinned) {
  if (!is_host) return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  return is_pinned ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

int64_t DurationOf(uint64_t bytes) {
  return 1000 + static_cast<int64_t>(bytes) * 1000 / kBytesPerMicrosecond;
}

void DoCopy(Stream& stream, const CopyOptions& options, const CopyFacts& facts,
            uint32_t correlation) {
  const bool is_recorded = activity::IsOn(CUPTI_ACTIVITY_KIND_MEMCPY);
  const int64_t duration_ns =
      options.duration_ns != 0 ? options.duration_ns : DurationOf(options.bytes);
  const Interval interval = stream.Enqueue(duration_ns);
  if (is_recorded) {
    Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_MEMCPY, interval, correlation);
    work.bytes = options.bytes;
    work.is_async = options.is_async;
    work.copy = {0, 0, static_cast<uint8_t>(facts.kind),
                 MemoryKind(facts.from_host, options.is_pinned),
                 MemoryKind(facts.to_host, options.is_pinned)};
    activity::Record(work);
  }
  const bool is_staged = facts.to_host && !options.is_pinned;
  if (!options.is_async || is_staged) WaitUntil(interval.end_ns);
}

}  // namespace

Call Memcpy(Stream& stream, const CopyOptions& options) {
  const CopyFacts facts = FactsOf(options.kind);
  const CopyParameters driver{facts.to_host ? kHostAddress : kDeviceAddress,
                              facts.from_host ? kHostAddress : kDeviceAddress, options.bytes,
                              stream.Handle()};
  // The synchronous call's parameters are the same without the stream.
  const cudaMemcpyAsync_v3020_params runtime{reinterpret_cast<void*>(driver.destination),
                                             reinterpret_cast<const void*>(driver.source),
                                             options.bytes, facts.runtime_kind, stream.Handle()};
  return Trace(
      {.runtime = options.is_async ? &functions::kCudaMemcpyAsync : &functions::kCudaMemcpy,
       .runtime_parameters = &runtime,
       .driver = options.is_async ? facts.driver_async : facts.driver,
       .driver_parameters = &driver,
       .context = stream.context,
       .per_thread = stream.per_thread},
      [&](uint32_t correlation) {
        DoCopy(stream, options, facts, correlation);
        return kSuccess;
      });
}

Call MemcpyPeer(Stream& stream, int to_device, uint64_t bytes) {
  if (to_device < 0 || to_device >= DeviceCount()) return {kErrorInvalidValue, 0};
  const auto from = static_cast<int>(stream.context.device);
  const auto address = reinterpret_cast<void*>(kDeviceAddress);
  const cudaMemcpyPeerAsync_v4000_params runtime{address, to_device, address,
                                                 from,    bytes,     stream.Handle()};
  const cuMemcpyPeerAsync_params driver{kDeviceAddress, Activate(to_device).Handle(),
                                        kDeviceAddress, stream.context.Handle(),
                                        bytes,          stream.Handle()};
  return Trace({.runtime = &functions::kCudaMemcpyPeerAsync,
                .runtime_parameters = &runtime,
                .driver = functions::kCuMemcpyPeerAsync,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread},
               [&](uint32_t correlation) {
                 const bool is_recorded = activity::IsOn(CUPTI_ACTIVITY_KIND_MEMCPY2);
                 const Interval interval = stream.Enqueue(DurationOf(bytes));
                 if (!is_recorded) return kSuccess;
                 Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_MEMCPY2, interval, correlation);
                 work.bytes = bytes;
                 work.is_async = true;
                 work.copy = {static_cast<uint32_t>(from), static_cast<uint32_t>(to_device),
                              CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                              CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
                 activity::Record(work);
                 return kSuccess;
               });
}

Call Memset(Stream& stream, const SetOptions& options) {
  const cudaMemsetAsync_v3020_params runtime{reinterpret_cast<void*>(kDeviceAddress), options.value,
                                             options.bytes, stream.Handle()};
  const cuMemsetD8Async_params driver{kDeviceAddress, options.value, options.bytes,
                                      stream.Handle()};
  return Trace(
      {.runtime = options.is_async ? &functions::kCudaMemsetAsync : &functions::kCudaMemset,
       .runtime_parameters = &runtime,
       .driver = options.is_async ? functions::kCuMemsetD8Async : functions::kCuMemsetD8,
       .driver_parameters = &driver,
       .context = stream.context,
       .per_thread = stream.per_thread},
      [&](uint32_t correlation) {
        const bool is_recorded = activity::IsOn(CUPTI_ACTIVITY_KIND_MEMSET);
        const Interval interval = stream.Enqueue(DurationOf(options.bytes));
        if (!is_recorded) return kSuccess;
        Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_MEMSET, interval, correlation);
        work.bytes = options.bytes;
        work.is_async = options.is_async;
        work.set.value = options.value;
        activity::Record(work);
        return kSuccess;
      });
}

}  // namespace nanolane::sim
