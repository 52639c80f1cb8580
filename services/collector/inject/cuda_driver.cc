#include "services/collector/inject/cuda_driver.h"

#include <dlfcn.h>

#include <cstring>

namespace nanolane::inject {
namespace {

struct Driver {
  CUresult (*device_count)(int*);
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_name)(char*, int, CUdevice);
  CUresult (*device_uuid)(CUuuid*, CUdevice);
  CUresult (*device_memory)(size_t*, CUdevice);
  CUresult (*primary_state)(CUdevice, unsigned int*, int*);
  CUresult (*primary_retain)(CUcontext*, CUdevice);
  CUresult (*primary_release)(CUdevice);
  CUresult (*push)(CUcontext);
  CUresult (*pop)(CUcontext*);
  CUresult (*memory_info)(size_t*, size_t*);
  CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus*);
  CUresult (*is_capturing_ptsz)(CUstream, CUstreamCaptureStatus*);
  bool found;
};

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Driver g_driver;

const Driver& TheDriver() {
  // Looked for again until it is there: the library may be loaded before CUDA is.
  if (g_driver.found) return g_driver;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return g_driver;
  Driver driver{};
  Find(library, "cuDeviceGetCount", driver.device_count);
  Find(library, "cuDeviceGet", driver.device_get);
  Find(library, "cuDeviceGetName", driver.device_name);
  Find(library, "cuDeviceGetUuid_v2", driver.device_uuid);
  if (driver.device_uuid == nullptr) Find(library, "cuDeviceGetUuid", driver.device_uuid);
  Find(library, "cuDeviceTotalMem_v2", driver.device_memory);
  Find(library, "cuDevicePrimaryCtxGetState", driver.primary_state);
  Find(library, "cuDevicePrimaryCtxRetain", driver.primary_retain);
  Find(library, "cuDevicePrimaryCtxRelease_v2", driver.primary_release);
  Find(library, "cuCtxPushCurrent_v2", driver.push);
  Find(library, "cuCtxPopCurrent_v2", driver.pop);
  Find(library, "cuMemGetInfo_v2", driver.memory_info);
  Find(library, "cuStreamIsCapturing", driver.is_capturing);
  Find(library, "cuStreamIsCapturing_ptsz", driver.is_capturing_ptsz);
  driver.found = driver.device_count != nullptr && driver.device_get != nullptr;
  g_driver = driver;
  return g_driver;
}

}  // namespace

uint32_t ListGpus(wire::Gpu* gpus, uint32_t most) {
  const Driver& driver = TheDriver();
  int count = 0;
  if (!driver.found || driver.device_count(&count) != CUDA_SUCCESS) return 0;
  uint32_t listed = 0;
  for (int i = 0; i < count && listed < most; ++i) {
    CUdevice device = 0;
    if (driver.device_get(&device, i) != CUDA_SUCCESS) continue;
    wire::Gpu& gpu = gpus[listed++];
    memset(&gpu, 0, sizeof(gpu));
    gpu.index = i;
    CUuuid uuid{};
    if (driver.device_uuid != nullptr && driver.device_uuid(&uuid, device) == CUDA_SUCCESS) {
      memcpy(gpu.uuid, uuid.bytes, sizeof(gpu.uuid));
    }
    if (driver.device_name != nullptr) {
      driver.device_name(gpu.name, sizeof(gpu.name) - 1, device);
    }
    size_t bytes = 0;
    if (driver.device_memory != nullptr && driver.device_memory(&bytes, device) == CUDA_SUCCESS) {
      gpu.memory_bytes = bytes;
    }
  }
  return listed;
}

bool DeviceMemory(int device_index, uint64_t* used_bytes, uint64_t* total_bytes) {
  const Driver& driver = TheDriver();
  if (driver.memory_info == nullptr || driver.primary_state == nullptr ||
      driver.primary_retain == nullptr || driver.primary_release == nullptr ||
      driver.push == nullptr || driver.pop == nullptr) {
    return false;
  }
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  if (driver.device_get(&device, device_index) != CUDA_SUCCESS) return false;
  // Retaining an inactive one would make it, which takes memory and time of the application.
  if (driver.primary_state(device, &flags, &active) != CUDA_SUCCESS || active == 0) return false;
  CUcontext context = nullptr;
  if (driver.primary_retain(&context, device) != CUDA_SUCCESS) return false;
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  bool known = false;
  if (driver.push(context) == CUDA_SUCCESS) {
    known = driver.memory_info(&free_bytes, &all_bytes) == CUDA_SUCCESS;
    driver.pop(&context);
  }
  driver.primary_release(device);
  if (!known || free_bytes > all_bytes) return false;
  *used_bytes = all_bytes - free_bytes;
  *total_bytes = all_bytes;
  return true;
}

bool StreamIsCapturing(CUstream stream, bool per_thread) {
  const Driver& driver = TheDriver();
  auto* function = per_thread ? driver.is_capturing_ptsz : driver.is_capturing;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return function != nullptr && function(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace nanolane::inject
