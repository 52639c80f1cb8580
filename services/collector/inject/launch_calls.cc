#include "services/collector/inject/launch_calls.h"

#include "services/collector/inject/clock.h"
#include "services/collector/inject/cuda_driver.h"
#include "services/collector/inject/event_streams.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {
namespace {

const CuptiLibrary* g_cupti = nullptr;
const CallbackTable* g_table = nullptr;
std::atomic<uint32_t> g_first_correlation{0};
// Streams that are being captured into graphs, as far as was seen. Launches into them issue
// nothing.
std::atomic<int32_t> g_stream_captures{0};

constexpr int64_t kAskAllNs = 1'000'000'000;

void NoteFirst(uint32_t correlation) {
  uint32_t first = g_first_correlation.load(std::memory_order_relaxed);
  while (
      (first == 0 || static_cast<int32_t>(correlation - first) < 0) &&
      !g_first_correlation.compare_exchange_weak(first, correlation, std::memory_order_relaxed)) {
  }
}

// Calls that were entered while the capture was being turned on: their device work may be
// recorded by CUPTI, and is not the capture's. As bits, by correlation from the first such call on;
// those before it came to be called at the same time, in other threads.
constexpr uint32_t kEarlyBits = 1U << 20;
constexpr uint32_t kEarlySlack = 1U << 14;
std::atomic<uint64_t> g_early[kEarlyBits / 64];
std::atomic<uint64_t> g_early_base{0};  // 0: none yet; else the correlation of bit 0, and 1 << 32

void NoteEarly(uint32_t correlation) {
  uint64_t base = g_early_base.load(std::memory_order_acquire);
  if (base == 0) {
    const uint64_t wanted = uint64_t{1} << 32 | uint32_t{correlation - kEarlySlack};
    if (g_early_base.compare_exchange_strong(base, wanted, std::memory_order_acq_rel))
      base = wanted;
  }
  const uint32_t bit = correlation - static_cast<uint32_t>(base);
  if (bit >= kEarlyBits) return;
  g_early[bit / 64].fetch_or(uint64_t{1} << bit % 64, std::memory_order_relaxed);
}

void ForgetEarly() {
  if (g_early_base.exchange(0, std::memory_order_acq_rel) == 0) return;
  for (std::atomic<uint64_t>& bits : g_early) bits.store(0, std::memory_order_relaxed);
}

wire::ApiDomain DomainOf(CUpti_CallbackDomain domain) {
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? wire::ApiDomain::kRuntime
                                               : wire::ApiDomain::kDriver;
}

// The parameters that are looked at, as CUPTI hands them over: the call's arguments in order.
struct StreamParams {
  CUstream stream;
};
struct EventParams {
  CUevent event;
};
struct StreamEventParams {
  CUstream stream;
  CUevent event;
};
struct EventStreamParams {
  CUevent event;
  CUstream stream;
};

template <typename Params>
const Params& ParamsOf(const CUpti_CallbackData& data) {
  return *static_cast<const Params*>(data.functionParams);
}

int64_t StreamIdOf(const CUpti_CallbackData& data, CUstream stream, bool per_thread) {
  uint32_t id = 0;
  const CUptiResult result = g_cupti->get_stream_id(data.context, stream, per_thread ? 1 : 0, &id);
  return result == CUPTI_SUCCESS ? int64_t{id} : -1;
}

int32_t DeviceOf(const CUpti_CallbackData& data) {
  uint32_t device = 0;
  if (data.context == nullptr) return -1;
  return g_cupti->get_device_id(data.context, &device) == CUPTI_SUCCESS
             ? static_cast<int32_t>(device)
             : -1;
}

// The stream of a kernel launch; false: not known for this call.
bool StreamOfLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const CUpti_CallbackData& data, CUstream* stream) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    switch (id) {
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000:
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000:
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000:
      case CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000:
        *stream = ParamsOf<cudaLaunchKernel_v7000_params>(data).stream;
        return true;
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060:
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060:
        *stream = ParamsOf<cudaLaunchKernelExC_v11060_params>(data).config->stream;
        return true;
      default: return false;
    }
  }
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      *stream = ParamsOf<cuLaunchKernel_params>(data).hStream;
      return true;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      *stream = ParamsOf<cuLaunchKernelEx_params>(data).config->hStream;
      return true;
    default: return false;
  }
}

struct Call {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  CallFacts facts;
  int64_t start_ns;
  int64_t duration_ns;
};

bool GoesIntoGraph(const Call& call, int64_t on_ns, const CUpti_CallbackData& data) {
  // A stream may be in the middle of it when the capture begins: in its first second all are asked.
  if (g_stream_captures.load(std::memory_order_relaxed) <= 0 && call.start_ns - on_ns > kAskAllNs) {
    return false;
  }
  CUstream stream = nullptr;
  return StreamOfLaunch(call.domain, call.id, data, &stream) &&
         StreamIsCapturing(stream, call.facts.per_thread_stream);
}

void CountKernelLaunch(ThreadState& state, uint64_t capture) {
  if (state.counted_capture.load(std::memory_order_relaxed) != capture) {
    state.kernel_launches.store(0, std::memory_order_relaxed);
    state.counted_capture.store(capture, std::memory_order_relaxed);
  }
  state.kernel_launches.store(state.kernel_launches.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
}

void WriteLaunch(const CaptureUse& use, const Call& call, const CUpti_CallbackData& data) {
  const bool is_kernel = call.facts.call_class == CallClass::kKernelLaunch;
  const int64_t on_ns = use->on_ns.load(std::memory_order_relaxed);
  if (is_kernel && GoesIntoGraph(call, on_ns, data)) return;
  if (is_kernel) CountKernelLaunch(use.thread(), use->ring->number());
  if ((use->kinds & wire::kKindLaunch) == 0) return;
  use.Write<wire::LaunchRecord>(wire::RecordType::kLaunch, kSlotLaunch,
                                [&](wire::LaunchRecord& record) {
                                  record.start_ns = call.start_ns;
                                  record.duration_ns = call.duration_ns;
                                  record.correlation = data.correlationId;
                                  record.cbid = static_cast<uint16_t>(call.id);
                                  record.domain = static_cast<uint8_t>(DomainOf(call.domain));
                                });
}

// 0: it waits for nothing.
wire::SyncType SyncTypeOf(CallClass call_class) {
  switch (call_class) {
    case CallClass::kStreamSync: return wire::SyncType::kStream;
    case CallClass::kEventSync: return wire::SyncType::kEvent;
    case CallClass::kContextSync: return wire::SyncType::kContext;
    case CallClass::kDeviceSync: return wire::SyncType::kDevice;
    case CallClass::kStreamWait: return wire::SyncType::kStreamWaitEvent;
    default: return wire::SyncType{0};
  }
}

struct Waited {
  wire::SyncType type;
  int64_t stream = -1;
  int64_t event_stream = -1;
};

Waited WhatIsWaitedFor(const Call& call, const CUpti_CallbackData& data) {
  const bool per_thread = call.facts.per_thread_stream;
  const wire::SyncType type = SyncTypeOf(call.facts.call_class);
  switch (call.facts.call_class) {
    case CallClass::kStreamSync:
      return {.type = type,
              .stream = StreamIdOf(data, ParamsOf<StreamParams>(data).stream, per_thread)};
    case CallClass::kEventSync:
      return {.type = type, .stream = StreamOfEvent(ParamsOf<EventParams>(data).event)};
    case CallClass::kStreamWait:
      return {.type = type,
              .stream = StreamIdOf(data, ParamsOf<StreamEventParams>(data).stream, per_thread),
              .event_stream = StreamOfEvent(ParamsOf<StreamEventParams>(data).event)};
    default: return {.type = type};
  }
}

void BeginWait(ThreadState& state, const Call& call, const CUpti_CallbackData& data) {
  const Waited waited = WhatIsWaitedFor(call, data);
  state.wait = {.stream = waited.stream,
                .event_stream = waited.event_stream,
                .context = data.contextUid,
                .device = DeviceOf(data),
                .type = static_cast<uint8_t>(waited.type)};
  state.open_wait.store(1, std::memory_order_release);
}

// Once for each wait, by whoever comes first.
void WriteWait(const CaptureUse& use, ThreadState& state, int64_t duration_ns) {
  if (state.open_wait.exchange(0, std::memory_order_acq_rel) == 0) return;
  use.Write<wire::SyncRecord>(wire::RecordType::kSync, kSlotSync, [&](wire::SyncRecord& record) {
    record.start_ns = state.call_start_ns;
    record.duration_ns = duration_ns;
    record.stream = state.wait.stream;
    record.event_stream = state.wait.event_stream;
    record.context = state.wait.context;
    record.device = state.wait.device;
    record.correlation = state.open_correlation;
    record.cbid = state.open_cbid;
    record.domain = state.open_domain;
    record.sync_type = state.wait.type;
  });
}

void NoteRecord(const Call& call, const CUpti_CallbackData& data) {
  const auto& params = ParamsOf<EventStreamParams>(data);
  const int64_t stream = StreamIdOf(data, params.stream, call.facts.per_thread_stream);
  if (stream >= 0) NoteEventRecorded(params.event, static_cast<uint32_t>(stream));
}

void NoteUnderWay(bool enters, uint32_t correlation, int64_t now) {
  ThreadState* state = CurrentThread();
  if (state == nullptr) return;
  const bool is_it = state->under_way.load(std::memory_order_relaxed) == correlation;
  if (enters && is_it) {
    ++state->under_way_depth;
  } else if (enters) {
    state->under_way_depth = 1;
    state->under_way_since_ns.store(now, std::memory_order_relaxed);
    state->under_way.store(correlation, std::memory_order_release);
  } else if (is_it && --state->under_way_depth == 0) {
    state->under_way.store(0, std::memory_order_release);
  }
}

void Enter(const CaptureUse& use, CUpti_CallbackDomain domain, CUpti_CallbackId id,
           const CUpti_CallbackData& data, int64_t now) {
  ThreadState& state = use.thread();
  const uint64_t capture = use->ring->number();
  if (state.call_open && state.open_capture == capture &&
      state.open_correlation == data.correlationId) {
    return;
  }
  if (!use->Includes(now)) {
    if (!use->HasEnded(now)) NoteEarly(data.correlationId);
    return;
  }
  // The inner call of one that was early.
  if (WasEarly(data.correlationId)) return;
  state.call_open = true;
  state.open_capture = capture;
  state.open_correlation = data.correlationId;
  state.open_cbid = static_cast<uint16_t>(id);
  state.open_domain = static_cast<uint8_t>(DomainOf(domain));
  state.call_start_ns = now;
  state.last_correlation.store(data.correlationId, std::memory_order_relaxed);
  NoteFirst(data.correlationId);
  const CallFacts facts = g_table->At(domain, id);
  if (SyncTypeOf(facts.call_class) != wire::SyncType{0})
    BeginWait(state, {domain, id, facts, now, 0}, data);
}

void Exit(const CaptureUse& use, CUpti_CallbackDomain domain, CUpti_CallbackId id,
          const CUpti_CallbackData& data, int64_t now) {
  ThreadState& state = use.thread();
  if (!state.call_open || state.open_capture != use->ring->number() ||
      state.open_correlation != data.correlationId || state.open_cbid != id ||
      state.open_domain != static_cast<uint8_t>(DomainOf(domain))) {
    return;
  }
  state.call_open = false;
  const Call call = {.domain = domain,
                     .id = id,
                     .facts = g_table->At(domain, id),
                     .start_ns = state.call_start_ns,
                     .duration_ns = now - state.call_start_ns};
  // cudaError_t and CUresult alike: 0 is success.
  const bool succeeded = data.functionReturnValue == nullptr ||
                         *static_cast<const int*>(data.functionReturnValue) == 0;
  switch (call.facts.call_class) {
    case CallClass::kNone: return;
    case CallClass::kKernelLaunch:
    case CallClass::kGraphLaunch:
    case CallClass::kCopy:
      if (succeeded) WriteLaunch(use, call, data);
      return;
    case CallClass::kStreamSync:
    case CallClass::kEventSync:
    case CallClass::kContextSync:
    case CallClass::kDeviceSync:
    case CallClass::kStreamWait: WriteWait(use, state, call.duration_ns); return;
    case CallClass::kEventRecord:
      if (succeeded) NoteRecord(call, data);
      return;
    case CallClass::kCaptureBegin:
      if (succeeded) g_stream_captures.fetch_add(1, std::memory_order_relaxed);
      return;
    case CallClass::kCaptureEnd:
      // One whose beginning was not seen must not hide a later one.
      if (g_stream_captures.fetch_sub(1, std::memory_order_relaxed) <= 0) {
        g_stream_captures.fetch_add(1, std::memory_order_relaxed);
      }
      return;
  }
}

}  // namespace

void CUPTIAPI OnApiCall(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  const int64_t now = MonotonicNs();
  NoteUnderWay(enters, call.correlationId, now);
  const CaptureUse use;
  if (!use) return;
  if (enters) {
    Enter(use, domain, id, call, now);
  } else {
    Exit(use, domain, id, call, now);
  }
}

void PrepareLaunchCalls(const CuptiLibrary& cupti, const CallbackTable& table) {
  g_cupti = &cupti;
  g_table = &table;
  g_first_correlation.store(0, std::memory_order_relaxed);
  ForgetEarly();
  ForgetCallsUnderWay();
  g_stream_captures.store(0, std::memory_order_relaxed);
  ForEachThread([](ThreadState& state) {
    state.last_correlation.store(0, std::memory_order_relaxed);
    state.open_wait.store(0, std::memory_order_relaxed);
  });
  ForgetEvents();
}

void WriteOpenWaits(const CaptureUse& use, int64_t off_ns) {
  ForEachThread([&](ThreadState& state) {
    if (state.open_wait.load(std::memory_order_acquire) == 0) return;
    const WritingAs as(use, state.thread);
    WriteWait(use, state, off_ns - state.call_start_ns);
  });
}

int64_t LongestCallUnderWay(int64_t now_ns) {
  int64_t longest = 0;
  ForEachThread([&longest, now_ns](ThreadState& state) {
    if (state.under_way.load(std::memory_order_acquire) == 0) return;
    const int64_t since = state.under_way_since_ns.load(std::memory_order_relaxed);
    if (now_ns - since > longest) longest = now_ns - since;
  });
  return longest;
}

void ForgetCallsUnderWay() {
  ForEachThread([](ThreadState& state) { state.under_way.store(0, std::memory_order_relaxed); });
}

bool WasEarly(uint32_t correlation) {
  const uint64_t base = g_early_base.load(std::memory_order_acquire);
  const uint32_t bit = correlation - static_cast<uint32_t>(base);
  if (base == 0 || bit >= kEarlyBits) return false;
  return (g_early[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
}

uint32_t FirstCorrelation() { return g_first_correlation.load(std::memory_order_relaxed); }

uint32_t LastCorrelation() {
  uint32_t last = 0;
  ForEachThread([&last](ThreadState& state) {
    const uint32_t own = state.last_correlation.load(std::memory_order_relaxed);
    if (own != 0 && (last == 0 || static_cast<int32_t>(own - last) > 0)) last = own;
  });
  return last;
}

uint64_t KernelLaunches(uint64_t capture) {
  uint64_t launches = 0;
  ForEachThread([&launches, capture](ThreadState& state) {
    if (state.counted_capture.load(std::memory_order_relaxed) != capture) return;
    launches += state.kernel_launches.load(std::memory_order_relaxed);
  });
  return launches;
}

}  // namespace nanolane::inject
