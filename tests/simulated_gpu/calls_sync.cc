// Streams, events and devices that are waited for.
#include <algorithm>

#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/sim_clock.h"
#include "tests/simulated_gpu/traced_call.h"

namespace nanolane::sim {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;

struct SyncFacts {
  CUpti_ActivitySynchronizationType type;
  uint32_t correlation;
  const Context& context;
  uint32_t stream = kNone;
  uint32_t event = kNone;
  uint64_t sync_id = 0;
};

void RecordSync(const SyncFacts& facts, int64_t start_ns) {
  if (!activity::IsOn(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  // CUPTI 13.0 has no records of device synchronizations.
  const bool is_of_context = facts.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  if (is_of_context && GetFaults().cupti_version.load() == 130000) return;
  Work work;
  work.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  work.correlation = facts.correlation;
  work.start_ns = start_ns;
  work.end_ns = MonotonicNow();
  work.device = facts.context.device;
  work.context = facts.context.id;
  work.stream = facts.stream;
  work.sync = {facts.sync_id, facts.event, static_cast<uint32_t>(facts.type)};
  activity::Record(work);
}

uint64_t NextSyncId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

struct EventState {
  int64_t at_ns;
  uint64_t sync_id;
};

EventState StateOf(Event& event) {
  const std::lock_guard<std::mutex> lock(event.mutex);
  return {event.at_ns, event.sync_id};
}

CUevent HandleOf(Event& event) { return reinterpret_cast<CUevent>(&event); }

}  // namespace

Call StreamSynchronize(Stream& stream) {
  const cudaStreamSynchronize_v3020_params runtime{stream.Handle()};
  const cuStreamSynchronize_params driver{stream.Handle()};
  return Trace({.runtime = &functions::kCudaStreamSynchronize,
                .runtime_parameters = &runtime,
                .driver = functions::kCuStreamSynchronize,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread},
               [&](uint32_t correlation) {
                 const int64_t start_ns = MonotonicNow();
                 WaitUntil(stream.BusyUntil());
                 RecordSync({.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
                             .correlation = correlation,
                             .context = stream.context,
                             .stream = stream.id},
                            start_ns);
                 return kSuccess;
               });
}

Call DeviceSynchronize() {
  Init();
  Context& context = CurrentContext();
  return Trace({.runtime = &functions::kCudaDeviceSynchronize,
                .runtime_parameters = nullptr,
                .driver = functions::kCuCtxSynchronize,
                .driver_parameters = nullptr,
                .context = context},
               [&](uint32_t correlation) {
                 const int64_t start_ns = MonotonicNow();
                 int64_t until_ns = 0;
                 for (Stream* stream : context.Streams()) {
                   until_ns = std::max(until_ns, stream->BusyUntil());
                 }
                 WaitUntil(until_ns);
                 RecordSync({.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                             .correlation = correlation,
                             .context = context},
                            start_ns);
                 return kSuccess;
               });
}

Call EventRecord(Event& event, Stream& stream) {
  const cudaEventRecord_v3020_params runtime{HandleOf(event), stream.Handle()};
  const cuEventRecord_params driver{HandleOf(event), stream.Handle()};
  return Trace(
      {.runtime = &functions::kCudaEventRecord,
       .runtime_parameters = &runtime,
       .driver = functions::kCuEventRecord,
       .driver_parameters = &driver,
       .context = stream.context,
       .per_thread = stream.per_thread},
      [&](uint32_t correlation) {
        const int64_t at_ns = std::max(stream.BusyUntil(), MonotonicNow());
        const uint64_t sync_id = NextSyncId();
        {
          const std::lock_guard<std::mutex> lock(event.mutex);
          event.at_ns = at_ns;
          event.sync_id = sync_id;
          event.stream_id = stream.id;
        }
        if (!activity::IsOn(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) return kSuccess;
        Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_CUDA_EVENT, {at_ns, at_ns}, correlation);
        work.sync = {sync_id, event.id, 0};
        activity::Record(work);
        return kSuccess;
      });
}

Call EventSynchronize(Event& event) {
  const cudaEventSynchronize_v3020_params runtime{HandleOf(event)};
  const cuEventSynchronize_params driver{HandleOf(event)};
  return Trace({.runtime = &functions::kCudaEventSynchronize,
                .runtime_parameters = &runtime,
                .driver = functions::kCuEventSynchronize,
                .driver_parameters = &driver,
                .context = *event.context},
               [&](uint32_t correlation) {
                 const int64_t start_ns = MonotonicNow();
                 const EventState state = StateOf(event);
                 WaitUntil(state.at_ns);
                 RecordSync({.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
                             .correlation = correlation,
                             .context = *event.context,
                             .event = event.id,
                             .sync_id = state.sync_id},
                            start_ns);
                 return kSuccess;
               });
}

Call EventQuery(Event& event) {
  const cudaEventQuery_v3020_params runtime{HandleOf(event)};
  const cuEventQuery_params driver{HandleOf(event)};
  return Trace(
      {.runtime = &functions::kCudaEventQuery,
       .runtime_parameters = &runtime,
       .driver = functions::kCuEventQuery,
       .driver_parameters = &driver,
       .context = *event.context},
      [&](uint32_t) { return StateOf(event).at_ns <= MonotonicNow() ? kSuccess : kErrorNotReady; });
}

Call StreamWaitEvent(Stream& stream, Event& event) {
  const cudaStreamWaitEvent_v3020_params runtime{stream.Handle(), HandleOf(event), 0};
  const cuStreamWaitEvent_params driver{stream.Handle(), HandleOf(event), 0};
  return Trace({.runtime = &functions::kCudaStreamWaitEvent,
                .runtime_parameters = &runtime,
                .driver = functions::kCuStreamWaitEvent,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread},
               [&](uint32_t correlation) {
                 const int64_t start_ns = MonotonicNow();
                 const EventState state = StateOf(event);
                 stream.NotBefore(state.at_ns);
                 RecordSync({.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
                             .correlation = correlation,
                             .context = stream.context,
                             .stream = stream.id,
                             .event = event.id,
                             .sync_id = state.sync_id},
                            start_ns);
                 return kSuccess;
               });
}

}  // namespace nanolane::sim
