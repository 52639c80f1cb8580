#include "tests/simulated_gpu/callback_names.h"

#include "tests/simulated_gpu/functions.h"

namespace nanolane::sim {
namespace {

constexpr const Function* kRuntime[] = {
    &functions::kCudaLaunchKernel,
    &functions::kCudaLaunchKernelExC,
    &functions::kCudaGraphLaunch,
    &functions::kCudaMemcpy,
    &functions::kCudaMemcpyAsync,
    &functions::kCudaMemcpyPeerAsync,
    &functions::kCudaMemset,
    &functions::kCudaMemsetAsync,
    &functions::kCudaStreamSynchronize,
    &functions::kCudaDeviceSynchronize,
    &functions::kCudaEventRecord,
    &functions::kCudaEventSynchronize,
    &functions::kCudaEventQuery,
    &functions::kCudaStreamWaitEvent,
    &functions::kCudaMalloc,
    &functions::kCudaFree,
    &functions::kCudaMallocAsync,
    &functions::kCudaMallocFromPoolAsync,
    &functions::kCudaFreeAsync,
};
constexpr const Function* kDriver[] = {
    &functions::kCuLaunchKernel,      &functions::kCuLaunchKernelEx,
    &functions::kCuGraphLaunch,       &functions::kCuMemcpyHtoD,
    &functions::kCuMemcpyHtoDAsync,   &functions::kCuMemcpyDtoH,
    &functions::kCuMemcpyDtoHAsync,   &functions::kCuMemcpyDtoD,
    &functions::kCuMemcpyDtoDAsync,   &functions::kCuMemcpy,
    &functions::kCuMemcpyAsync,       &functions::kCuMemcpyPeerAsync,
    &functions::kCuMemsetD8,          &functions::kCuMemsetD8Async,
    &functions::kCuStreamSynchronize, &functions::kCuCtxSynchronize,
    &functions::kCuEventRecord,       &functions::kCuEventSynchronize,
    &functions::kCuEventQuery,        &functions::kCuStreamWaitEvent,
    &functions::kCuMemAlloc,          &functions::kCuMemFree,
    &functions::kCuMemAllocAsync,     &functions::kCuMemAllocFromPoolAsync,
    &functions::kCuMemFreeAsync,
};

template <size_t count>
const char* Find(const Function* const (&functions)[count], uint32_t id) {
  for (const Function* function : functions) {
    if (function->cbid == id) return function->name;
    if (function->per_thread_cbid == id) return function->per_thread_name;
  }
  return nullptr;
}

}  // namespace

const char* CallbackName(CUpti_CallbackDomain domain, uint32_t id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return Find(kRuntime, id);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return Find(kDriver, id);
  return nullptr;
}

}  // namespace nanolane::sim
