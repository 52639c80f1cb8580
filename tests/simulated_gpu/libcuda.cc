// libcuda.so.1 of the simulated GPU: what an injection library asks the driver about.
#include <cuda.h>

#include <cstring>

#include "tests/simulated_gpu/device.h"

#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease

namespace sim = nanolane::sim;

namespace {

bool IsDevice(CUdevice device) { return device >= 0 && device < sim::DeviceCount(); }

// What any call that is given a device says before it does anything.
CUresult Check(const void* output, CUdevice device) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (output == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(sim::Init());
}

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = sim::DeviceCount();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  const CUresult result = Check(device, ordinal);
  if (result == CUDA_SUCCESS) *device = ordinal;
  return result;
}

CUresult CUDAAPI cuDeviceGetName(char* name, int size, CUdevice device) {
  const CUresult result = Check(name, device);
  if (result != CUDA_SUCCESS) return result;
  if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::strncpy(name, sim::DeviceAt(device).name, static_cast<size_t>(size) - 1);
  name[size - 1] = 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  const CUresult result = Check(uuid, device);
  if (result == CUDA_SUCCESS) std::memcpy(uuid->bytes, sim::DeviceAt(device).uuid, 16);
  return result;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  const CUresult result = Check(bytes, device);
  if (result == CUDA_SUCCESS) *bytes = sim::DeviceAt(device).memory_bytes;
  return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  const CUresult result = Check(active, device);
  if (result != CUDA_SUCCESS) return result;
  if (flags != nullptr) *flags = 0;
  *active = sim::ContextOf(device).is_active ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const CUresult result = Check(context, device);
  if (result == CUDA_SUCCESS) *context = sim::Activate(device).Handle();
  return result;
}

// The program itself holds its primary contexts until it ends.
CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) { return Check(&device, device); }

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext handle) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  sim::Context* context = sim::ContextFrom(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  sim::PushContext(*context);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* handle) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  sim::Context* context = sim::PopContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (handle != nullptr) *handle = context->Handle();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* handle) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = sim::CurrentContext().Handle();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  if (!sim::IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (free_bytes == nullptr || total_bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const sim::Device& device = sim::DeviceAt(static_cast<int>(sim::CurrentContext().device));
  *total_bytes = device.memory_bytes;
  *free_bytes = device.memory_bytes - device.used_bytes;
  return CUDA_SUCCESS;
}

}  // extern "C"
