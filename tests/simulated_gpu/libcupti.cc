// libcupti.so.13 of the simulated GPU: CUPTI's functions, each a step into the parts behind them.
#include <cuda.h>
#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/simulated_gpu/activity.h"
#include "tests/simulated_gpu/callback_names.h"
#include "tests/simulated_gpu/callbacks.h"
#include "tests/simulated_gpu/device.h"
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace sim = nanolane::sim;
namespace activity = nanolane::sim::activity;
namespace callbacks = nanolane::sim::callbacks;

namespace {

constexpr size_t kAttributes = 16;
std::array<std::atomic<uint64_t>, kAttributes> attributes;

// Attributes are a size_t, or a byte where a flag.
bool IsAttribute(CUpti_ActivityAttribute attribute, const size_t* size, const void* value) {
  return static_cast<size_t>(attribute) < kAttributes && size != nullptr && value != nullptr &&
         *size >= 1 && *size <= sizeof(uint64_t);
}

sim::Context* ContextOrCurrent(CUcontext handle) {
  return handle == nullptr ? &sim::CurrentContext() : sim::ContextFrom(handle);
}

bool IsStreamOf(sim::Context& context, const sim::Stream* wanted) {
  for (const sim::Stream* stream : context.Streams()) {
    if (stream == wanted) return true;
  }
  return false;
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = static_cast<uint32_t>(sim::GetFaults().cupti_version.load());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                          const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = sim::CallbackName(domain, id);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  switch (result) {
    case CUPTI_SUCCESS: *text = "CUPTI_SUCCESS"; break;
    case CUPTI_ERROR_INVALID_PARAMETER: *text = "CUPTI_ERROR_INVALID_PARAMETER"; break;
    case CUPTI_ERROR_INVALID_KIND: *text = "CUPTI_ERROR_INVALID_KIND"; break;
    case CUPTI_ERROR_INVALID_OPERATION: *text = "CUPTI_ERROR_INVALID_OPERATION"; break;
    case CUPTI_ERROR_MAX_LIMIT_REACHED: *text = "CUPTI_ERROR_MAX_LIMIT_REACHED"; break;
    case CUPTI_ERROR_NOT_COMPATIBLE: *text = "CUPTI_ERROR_NOT_COMPATIBLE"; break;
    case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_UNKNOWN: *text = "CUPTI_ERROR_UNKNOWN"; break;
    default: *text = "<unknown>"; return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = sim::ToClientTime(sim::MonotonicNow());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* user_data) {
  std::string holder;
  return callbacks::Subscribe(subscriber, callback, user_data, "", holder);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                       CUpti_CallbackFunc callback, void* user_data,
                                       CUpti_SubscriberParams* params) {
  if (params != nullptr && params->structSize == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  const bool has_name = params != nullptr && params->subscriberName != nullptr;
  std::string holder;
  const CUptiResult result = callbacks::Subscribe(subscriber, callback, user_data,
                                                  has_name ? params->subscriberName : "", holder);
  const bool names_holder = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
                            params != nullptr && params->oldSubscriberName != nullptr &&
                            params->oldSubscriberSize > 0;
  if (!names_holder) return result;
  const size_t bytes = holder.copy(params->oldSubscriberName, params->oldSubscriberSize - 1);
  params->oldSubscriberName[bytes] = 0;
  return result;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return callbacks::Unsubscribe(subscriber);
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return callbacks::Enable(subscriber, enable != 0, domain, cbid);
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                       CUpti_CallbackDomain domain) {
  return callbacks::EnableDomain(subscriber, enable != 0, domain);
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed) {
  return activity::RegisterCallbacks(requested, completed);
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  return activity::Enable(kind, false);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  return activity::Enable(kind, true);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  return activity::Disable(kind);
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  return activity::FlushAll((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
}

// Full buffers are handed back without it.
CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t) { return CUPTI_SUCCESS; }

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                                CUpti_Activity** record) {
  return activity::NextRecord(buffer, valid_bytes, record);
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = activity::TakeDropped();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                               void* value) {
  if (!IsAttribute(attribute, size, value)) return CUPTI_ERROR_INVALID_PARAMETER;
  uint64_t stored = 0;
  std::memcpy(&stored, value, *size);
  attributes[attribute] = stored;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                               void* value) {
  if (!IsAttribute(attribute, size, value)) return CUPTI_ERROR_INVALID_PARAMETER;
  const uint64_t stored = attributes[attribute];
  std::memcpy(value, &stored, *size);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) return CUPTI_ERROR_NOT_SUPPORTED;
  activity::SetThreadIdType(type);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  sim::SetTimestampCallback(callback);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  return activity::EnableApi(CUPTI_ACTIVITY_KIND_RUNTIME, cbid, enable != 0);
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  return activity::EnableApi(CUPTI_ACTIVITY_KIND_DRIVER, cbid, enable != 0);
}

// Only records of waits that are none (queries) would be fewer; there are none of those.
CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t) { return CUPTI_SUCCESS; }

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext handle, CUstream stream, uint8_t per_thread,
                                        uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  sim::Context* context = ContextOrCurrent(handle);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  const bool is_per_thread =
      stream == CU_STREAM_PER_THREAD || (stream == nullptr && per_thread != 0);
  if (is_per_thread) {
    sim::PushContext(*context);
    *id = sim::StreamId(sim::PerThreadStream());
    (void)sim::PopContext();
    return CUPTI_SUCCESS;
  }
  if (stream == nullptr || stream == CU_STREAM_LEGACY) {
    *id = sim::kDefaultStreamId;
    return CUPTI_SUCCESS;
  }
  const auto* created = reinterpret_cast<const sim::Stream*>(stream);
  if (!IsStreamOf(*context, created)) return CUPTI_ERROR_INVALID_STREAM;
  *id = created->id;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext handle, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const sim::Context* context = sim::ContextFrom(handle);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext handle, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const sim::Context* context = ContextOrCurrent(handle);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = context->device;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void) {
  const int64_t error = sim::GetFaults().finalize_error.load();
  if (error != 0) return static_cast<CUptiResult>(error);
  void* tables = callbacks::Finalize();
  activity::Finalize();
  // As the real one does: at once, whoever is under way.
  free(tables);
  return CUPTI_SUCCESS;
}

}  // extern "C"
