#include "services/collector/inject/other_tools.h"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>

#include "services/collector/inject/linkage_slot.h"
#include "services/collector/inject/log.h"

namespace nanolane::inject {
namespace {

constexpr const char* kLibrary = "libtorch_cpu.so";

using Subscribe = CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*);
using Register = CUptiResult (*)(CUpti_BuffersCallbackRequestFunc,
                                 CUpti_BuffersCallbackCompleteFunc);

std::atomic<void (*)()> g_yield{nullptr};
std::atomic<Subscribe> g_subscribe{nullptr};
std::atomic<Register> g_register{nullptr};
LinkageSlot g_subscribe_slot;
LinkageSlot g_register_slot;

void Yield() {
  if (auto* yield = g_yield.load(std::memory_order_acquire)) yield();
}

CUptiResult OnSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data) {
  Yield();
  const Subscribe real = g_subscribe.load(std::memory_order_relaxed);
  return real != nullptr ? real(handle, callback, data) : CUPTI_ERROR_UNKNOWN;
}

CUptiResult OnRegister(CUpti_BuffersCallbackRequestFunc requested,
                       CUpti_BuffersCallbackCompleteFunc completed) {
  Yield();
  const Register real = g_register.load(std::memory_order_relaxed);
  return real != nullptr ? real(requested, completed) : CUPTI_ERROR_UNKNOWN;
}

// Not what the slot holds: before its first call that is the linker's, which would put the real
// function's address into the slot.
template <typename Function>
bool FindReal(const char* name, std::atomic<Function>& function) {
  void* library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen("libcupti.so.12", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  auto real = reinterpret_cast<Function>(dlsym(library, name));
  function.store(real, std::memory_order_relaxed);
  return real != nullptr;
}

}  // namespace

void WatchOtherTools(void (*yield)()) {
  if (!LibraryIsLoaded(kLibrary)) return;
  if (!FindReal("cuptiSubscribe", g_subscribe) ||
      !FindReal("cuptiActivityRegisterCallbacks", g_register)) {
    return;
  }
  g_yield.store(yield, std::memory_order_release);
  const bool watched =
      g_subscribe_slot.Install(kLibrary, "cuptiSubscribe", reinterpret_cast<void*>(&OnSubscribe));
  const bool watched_too = g_register_slot.Install(kLibrary, "cuptiActivityRegisterCallbacks",
                                                   reinterpret_cast<void*>(&OnRegister));
  if (!watched && !watched_too) Log("torch.profiler cannot be made way for");
}

void ForgetOtherTools() {
  g_subscribe_slot.Remove(reinterpret_cast<void*>(g_subscribe.load(std::memory_order_relaxed)));
  g_register_slot.Remove(reinterpret_cast<void*>(g_register.load(std::memory_order_relaxed)));
  g_yield.store(nullptr, std::memory_order_release);
}

}  // namespace nanolane::inject
