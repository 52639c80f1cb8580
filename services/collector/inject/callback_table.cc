#include "services/collector/inject/callback_table.h"

#include <cstring>
#include <initializer_list>

#include "services/collector/inject/wire.h"

namespace nanolane::inject {
namespace {

struct Prefix {
  const char* text;
  CallClass call_class;
};

// A call is of the class of the first prefix of its name, without "cuda" or "cu".
constexpr Prefix kPrefixes[] = {
    {"LaunchHostFunc", CallClass::kNone},
    {"LaunchKernel", CallClass::kKernelLaunch},
    {"LaunchCooperativeKernel", CallClass::kKernelLaunch},
    {"LaunchGrid", CallClass::kKernelLaunch},
    {"LaunchDevice", CallClass::kKernelLaunch},
    {"Launch_", CallClass::kKernelLaunch},
    {"GraphLaunch", CallClass::kGraphLaunch},
    {"Memcpy", CallClass::kCopy},
    {"Memset", CallClass::kCopy},
    {"StreamSynchronize", CallClass::kStreamSync},
    {"EventSynchronize", CallClass::kEventSync},
    {"CtxSynchronize", CallClass::kContextSync},
    {"DeviceSynchronize", CallClass::kDeviceSync},
    {"ThreadSynchronize", CallClass::kDeviceSync},
    {"StreamWaitEvent", CallClass::kStreamWait},
    {"EventRecord", CallClass::kEventRecord},
    {"StreamBeginCapture", CallClass::kCaptureBegin},
    {"StreamEndCapture", CallClass::kCaptureEnd},
};

bool BeginsWith(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

uint32_t KindsOf(CallClass call_class) {
  switch (call_class) {
    case CallClass::kNone: return 0;
    case CallClass::kKernelLaunch:
    case CallClass::kGraphLaunch:
    case CallClass::kCopy:
    case CallClass::kCaptureBegin:
    case CallClass::kCaptureEnd:
      // Device work belongs to a capture by when its call began, so the calls are listened to even
      // where they are not recorded.
      return wire::kKindLaunch | wire::kKindKernel | wire::kKindMemcpy | wire::kKindMemset;
    case CallClass::kStreamSync:
    case CallClass::kEventSync:
    case CallClass::kContextSync:
    case CallClass::kDeviceSync:
    case CallClass::kStreamWait:
    case CallClass::kEventRecord: return wire::kKindSync;
  }
  return 0;
}

}  // namespace

CallFacts ClassifyCall(const char* name) {
  CallFacts facts{};
  facts.per_thread_stream = strstr(name, "_ptsz") != nullptr || strstr(name, "_ptds") != nullptr;
  if (BeginsWith(name, "__")) name += 2;
  if (BeginsWith(name, "cuda")) {
    name += 4;
  } else if (BeginsWith(name, "cu")) {
    name += 2;
  } else {
    return facts;
  }
  if (strcmp(name, "Launch") == 0) facts.call_class = CallClass::kKernelLaunch;
  for (const Prefix& prefix : kPrefixes) {
    if (!BeginsWith(name, prefix.text)) continue;
    facts.call_class = prefix.call_class;
    break;
  }
  return facts;
}

void CallbackTable::Fill(const CuptiLibrary& cupti) {
  for (uint32_t id = 1; id < kMaxCallbackIds; ++id) {
    const char* name = nullptr;
    if (cupti.get_callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) == CUPTI_SUCCESS &&
        name != nullptr) {
      runtime_[id] = ClassifyCall(name);
    }
    name = nullptr;
    if (cupti.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS &&
        name != nullptr) {
      driver_[id] = ClassifyCall(name);
    }
  }
}

CUptiResult CallbackTable::Enable(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber,
                                  uint32_t kinds) const {
  CUptiResult first_error = CUPTI_SUCCESS;
  for (uint32_t id = 1; id < kMaxCallbackIds; ++id) {
    for (const CUpti_CallbackDomain domain :
         {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
      if ((KindsOf(At(domain, id).call_class) & kinds) == 0) continue;
      const CUptiResult result = cupti.enable_callback(1, subscriber, domain, id);
      if (result != CUPTI_SUCCESS && first_error == CUPTI_SUCCESS) first_error = result;
    }
  }
  return first_error;
}

}  // namespace nanolane::inject
