// CUPTI's callbacks: the one subscriber, what it asked for, and the calls that tell it.
// Thread-safe; no lock is held while the subscriber is called.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/simulated_gpu/activity.h"
#include "tests/simulated_gpu/device.h"

namespace nanolane::sim {
namespace callbacks {

inline constexpr size_t kMaxDomains = 8;

extern std::atomic<bool> ids_on[kMaxDomains][kMaxCallbackIds];
inline bool IsOn(CUpti_CallbackDomain domain, uint32_t id) {
  return ids_on[domain][id].load(std::memory_order_relaxed);
}

// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: `holder` is the name of the one there is.
CUptiResult Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user_data,
                      std::string_view name, std::string& holder);
CUptiResult Unsubscribe(CUpti_SubscriberHandle handle);
CUptiResult Enable(CUpti_SubscriberHandle handle, bool on, CUpti_CallbackDomain domain,
                   uint32_t id);
CUptiResult EnableDomain(CUpti_SubscriberHandle handle, bool on, CUpti_CallbackDomain domain);

// Whoever subscribed is out. What is left to free, which calls that are under way come back
// through.
void* Finalize();
// There are calls whose beginning has been told and whose end has not.
bool AreCallsUnderWay();

// Around a call whose beginning is told: what it comes back through.
void* BeginTelling();
void EndTelling(void* tables);

// The subscription of HoldSubscription goes, if it is still there.
void RemoveForeign();

void Tell(CUpti_CallbackDomain domain, uint32_t id, const void* data);

}  // namespace callbacks

// Of the process, from 1.
uint32_t NextCorrelation();

struct ApiCallOptions {
  CUpti_CallbackDomain domain;
  uint32_t cbid;
  const char* function;
  const void* parameters;
  Context& context;
  const char* symbol;
  uint32_t correlation;
};

// One API call, from its ENTER to its EXIT.
class ApiCall {
 public:
  explicit ApiCall(const ApiCallOptions& options);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  void Return(int result) { result_ = result; }

 private:
  CUpti_ActivityKind Kind() const;
  void Tell(CUpti_ApiCallbackSite site);

  const ApiCallOptions options_;
  int result_ = 0;
  int64_t start_ns_ = 0;  // 0: no record of the call
  uint64_t correlation_data_ = 0;
  bool is_told_ = false;
  void* tables_ = nullptr;
};

// Objects that CUPTI reports as they come to be.
void TellContextCreated(Context& context);
void TellStreamCreated(Stream& stream);
void TellPoolCreated(Pool& pool);

}  // namespace nanolane::sim
