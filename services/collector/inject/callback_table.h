// Which API calls a capture listens to, found by CUPTI's own names of its callback ids: a new
// version's variants are known without a table of numbers here.
#pragma once

#include <cstdint>

#include "services/collector/inject/cupti_library.h"

namespace nanolane::inject {

enum class CallClass : uint8_t {
  kNone = 0,
  kKernelLaunch,
  kGraphLaunch,
  kCopy,  // copies and memsets
  kStreamSync,
  kEventSync,
  kContextSync,
  kDeviceSync,
  kStreamWait,
  kEventRecord,
  kCaptureBegin,
  kCaptureEnd,
};

struct CallFacts {
  CallClass call_class;
  bool per_thread_stream;  // its default stream is the thread's own
};

inline constexpr uint32_t kMaxCallbackIds = 2048;

// By name as CUPTI gives it: "cudaLaunchKernel_ptsz_v7000", "cuLaunchKernelEx", …
CallFacts ClassifyCall(const char* name);

class CallbackTable {
 public:
  // Asks CUPTI for the names of all ids.
  void Fill(const CuptiLibrary& cupti);

  CallFacts At(CUpti_CallbackDomain domain, uint32_t id) const {
    if (id >= kMaxCallbackIds) return {};
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_[id] : driver_[id];
  }

  // Turns the callbacks of `kinds` (wire::Kinds) on, until CUPTI is detached. The first error, or
  // success.
  CUptiResult Enable(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber,
                     uint32_t kinds) const;

 private:
  CallFacts runtime_[kMaxCallbackIds] = {};
  CallFacts driver_[kMaxCallbackIds] = {};
};

}  // namespace nanolane::inject
