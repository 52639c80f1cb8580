// CUDA's functions that the simulated GPU has, with the ids by which CUPTI knows them.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>

namespace nanolane::sim {

// A function, and its variant for programs compiled with per-thread default streams.
struct Function {
  uint32_t cbid;
  const char* name;
  uint32_t per_thread_cbid;
  const char* per_thread_name;
};

namespace functions {

#define RUNTIME_ID(name) CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER_ID(name) CUPTI_DRIVER_TRACE_CBID_##name

// Launches.
inline constexpr Function kCudaLaunchKernel = {
    RUNTIME_ID(cudaLaunchKernel_v7000), "cudaLaunchKernel", RUNTIME_ID(cudaLaunchKernel_ptsz_v7000),
    "cudaLaunchKernel_ptsz"};
inline constexpr Function kCudaLaunchKernelExC = {
    RUNTIME_ID(cudaLaunchKernelExC_v11060), "cudaLaunchKernelExC",
    RUNTIME_ID(cudaLaunchKernelExC_ptsz_v11060), "cudaLaunchKernelExC_ptsz"};
inline constexpr Function kCudaGraphLaunch = {RUNTIME_ID(cudaGraphLaunch_v10000), "cudaGraphLaunch",
                                              RUNTIME_ID(cudaGraphLaunch_ptsz_v10000),
                                              "cudaGraphLaunch_ptsz"};
inline constexpr Function kCuLaunchKernel = {DRIVER_ID(cuLaunchKernel), "cuLaunchKernel",
                                             DRIVER_ID(cuLaunchKernel_ptsz), "cuLaunchKernel_ptsz"};
inline constexpr Function kCuLaunchKernelEx = {DRIVER_ID(cuLaunchKernelEx), "cuLaunchKernelEx",
                                               DRIVER_ID(cuLaunchKernelEx_ptsz),
                                               "cuLaunchKernelEx_ptsz"};
inline constexpr Function kCuGraphLaunch = {DRIVER_ID(cuGraphLaunch), "cuGraphLaunch",
                                            DRIVER_ID(cuGraphLaunch_ptsz), "cuGraphLaunch_ptsz"};

// Copies and sets. The runtime has no per-thread cudaMemcpyPeerAsync.
inline constexpr Function kCudaMemcpy = {RUNTIME_ID(cudaMemcpy_v3020), "cudaMemcpy",
                                         RUNTIME_ID(cudaMemcpy_ptds_v7000), "cudaMemcpy_ptds"};
inline constexpr Function kCudaMemcpyAsync = {RUNTIME_ID(cudaMemcpyAsync_v3020), "cudaMemcpyAsync",
                                              RUNTIME_ID(cudaMemcpyAsync_ptsz_v7000),
                                              "cudaMemcpyAsync_ptsz"};
inline constexpr Function kCudaMemcpyPeerAsync = {
    RUNTIME_ID(cudaMemcpyPeerAsync_v4000), "cudaMemcpyPeerAsync",
    RUNTIME_ID(cudaMemcpyPeerAsync_v4000), "cudaMemcpyPeerAsync"};
inline constexpr Function kCudaMemset = {RUNTIME_ID(cudaMemset_v3020), "cudaMemset",
                                         RUNTIME_ID(cudaMemset_ptds_v7000), "cudaMemset_ptds"};
inline constexpr Function kCudaMemsetAsync = {RUNTIME_ID(cudaMemsetAsync_v3020), "cudaMemsetAsync",
                                              RUNTIME_ID(cudaMemsetAsync_ptsz_v7000),
                                              "cudaMemsetAsync_ptsz"};
inline constexpr Function kCuMemcpyHtoD = {DRIVER_ID(cuMemcpyHtoD_v2), "cuMemcpyHtoD_v2",
                                           DRIVER_ID(cuMemcpyHtoD_v2_ptds), "cuMemcpyHtoD_v2_ptds"};
inline constexpr Function kCuMemcpyHtoDAsync = {
    DRIVER_ID(cuMemcpyHtoDAsync_v2), "cuMemcpyHtoDAsync_v2", DRIVER_ID(cuMemcpyHtoDAsync_v2_ptsz),
    "cuMemcpyHtoDAsync_v2_ptsz"};
inline constexpr Function kCuMemcpyDtoH = {DRIVER_ID(cuMemcpyDtoH_v2), "cuMemcpyDtoH_v2",
                                           DRIVER_ID(cuMemcpyDtoH_v2_ptds), "cuMemcpyDtoH_v2_ptds"};
inline constexpr Function kCuMemcpyDtoHAsync = {
    DRIVER_ID(cuMemcpyDtoHAsync_v2), "cuMemcpyDtoHAsync_v2", DRIVER_ID(cuMemcpyDtoHAsync_v2_ptsz),
    "cuMemcpyDtoHAsync_v2_ptsz"};
inline constexpr Function kCuMemcpyDtoD = {DRIVER_ID(cuMemcpyDtoD_v2), "cuMemcpyDtoD_v2",
                                           DRIVER_ID(cuMemcpyDtoD_v2_ptds), "cuMemcpyDtoD_v2_ptds"};
inline constexpr Function kCuMemcpyDtoDAsync = {
    DRIVER_ID(cuMemcpyDtoDAsync_v2), "cuMemcpyDtoDAsync_v2", DRIVER_ID(cuMemcpyDtoDAsync_v2_ptsz),
    "cuMemcpyDtoDAsync_v2_ptsz"};
inline constexpr Function kCuMemcpy = {DRIVER_ID(cuMemcpy), "cuMemcpy", DRIVER_ID(cuMemcpy_ptds),
                                       "cuMemcpy_ptds"};
inline constexpr Function kCuMemcpyAsync = {DRIVER_ID(cuMemcpyAsync), "cuMemcpyAsync",
                                            DRIVER_ID(cuMemcpyAsync_ptsz), "cuMemcpyAsync_ptsz"};
inline constexpr Function kCuMemcpyPeerAsync = {DRIVER_ID(cuMemcpyPeerAsync), "cuMemcpyPeerAsync",
                                                DRIVER_ID(cuMemcpyPeerAsync_ptsz),
                                                "cuMemcpyPeerAsync_ptsz"};
inline constexpr Function kCuMemsetD8 = {DRIVER_ID(cuMemsetD8_v2), "cuMemsetD8_v2",
                                         DRIVER_ID(cuMemsetD8_v2_ptds), "cuMemsetD8_v2_ptds"};
inline constexpr Function kCuMemsetD8Async = {DRIVER_ID(cuMemsetD8Async), "cuMemsetD8Async",
                                              DRIVER_ID(cuMemsetD8Async_ptsz),
                                              "cuMemsetD8Async_ptsz"};

// Synchronization.
inline constexpr Function kCudaStreamSynchronize = {
    RUNTIME_ID(cudaStreamSynchronize_v3020), "cudaStreamSynchronize",
    RUNTIME_ID(cudaStreamSynchronize_ptsz_v7000), "cudaStreamSynchronize_ptsz"};
inline constexpr Function kCudaDeviceSynchronize = {
    RUNTIME_ID(cudaDeviceSynchronize_v3020), "cudaDeviceSynchronize",
    RUNTIME_ID(cudaDeviceSynchronize_v3020), "cudaDeviceSynchronize"};
inline constexpr Function kCudaEventRecord = {RUNTIME_ID(cudaEventRecord_v3020), "cudaEventRecord",
                                              RUNTIME_ID(cudaEventRecord_ptsz_v7000),
                                              "cudaEventRecord_ptsz"};
inline constexpr Function kCudaEventSynchronize = {
    RUNTIME_ID(cudaEventSynchronize_v3020), "cudaEventSynchronize",
    RUNTIME_ID(cudaEventSynchronize_v3020), "cudaEventSynchronize"};
inline constexpr Function kCudaEventQuery = {RUNTIME_ID(cudaEventQuery_v3020), "cudaEventQuery",
                                             RUNTIME_ID(cudaEventQuery_v3020), "cudaEventQuery"};
inline constexpr Function kCudaStreamWaitEvent = {
    RUNTIME_ID(cudaStreamWaitEvent_v3020), "cudaStreamWaitEvent",
    RUNTIME_ID(cudaStreamWaitEvent_ptsz_v7000), "cudaStreamWaitEvent_ptsz"};
inline constexpr Function kCuStreamSynchronize = {
    DRIVER_ID(cuStreamSynchronize), "cuStreamSynchronize", DRIVER_ID(cuStreamSynchronize_ptsz),
    "cuStreamSynchronize_ptsz"};
inline constexpr Function kCuCtxSynchronize = {DRIVER_ID(cuCtxSynchronize), "cuCtxSynchronize",
                                               DRIVER_ID(cuCtxSynchronize), "cuCtxSynchronize"};
inline constexpr Function kCuEventRecord = {DRIVER_ID(cuEventRecord), "cuEventRecord",
                                            DRIVER_ID(cuEventRecord_ptsz), "cuEventRecord_ptsz"};
inline constexpr Function kCuEventSynchronize = {
    DRIVER_ID(cuEventSynchronize), "cuEventSynchronize", DRIVER_ID(cuEventSynchronize),
    "cuEventSynchronize"};
inline constexpr Function kCuEventQuery = {DRIVER_ID(cuEventQuery), "cuEventQuery",
                                           DRIVER_ID(cuEventQuery), "cuEventQuery"};
inline constexpr Function kCuStreamWaitEvent = {DRIVER_ID(cuStreamWaitEvent), "cuStreamWaitEvent",
                                                DRIVER_ID(cuStreamWaitEvent_ptsz),
                                                "cuStreamWaitEvent_ptsz"};

// Memory.
inline constexpr Function kCudaMalloc = {RUNTIME_ID(cudaMalloc_v3020), "cudaMalloc",
                                         RUNTIME_ID(cudaMalloc_v3020), "cudaMalloc"};
inline constexpr Function kCudaFree = {RUNTIME_ID(cudaFree_v3020), "cudaFree",
                                       RUNTIME_ID(cudaFree_v3020), "cudaFree"};
inline constexpr Function kCudaMallocAsync = {RUNTIME_ID(cudaMallocAsync_v11020), "cudaMallocAsync",
                                              RUNTIME_ID(cudaMallocAsync_ptsz_v11020),
                                              "cudaMallocAsync_ptsz"};
inline constexpr Function kCudaMallocFromPoolAsync = {
    RUNTIME_ID(cudaMallocFromPoolAsync_v11020), "cudaMallocFromPoolAsync",
    RUNTIME_ID(cudaMallocFromPoolAsync_ptsz_v11020), "cudaMallocFromPoolAsync_ptsz"};
inline constexpr Function kCudaFreeAsync = {RUNTIME_ID(cudaFreeAsync_v11020), "cudaFreeAsync",
                                            RUNTIME_ID(cudaFreeAsync_ptsz_v11020),
                                            "cudaFreeAsync_ptsz"};
inline constexpr Function kCuMemAlloc = {DRIVER_ID(cuMemAlloc_v2), "cuMemAlloc_v2",
                                         DRIVER_ID(cuMemAlloc_v2), "cuMemAlloc_v2"};
inline constexpr Function kCuMemFree = {DRIVER_ID(cuMemFree_v2), "cuMemFree_v2",
                                        DRIVER_ID(cuMemFree_v2), "cuMemFree_v2"};
inline constexpr Function kCuMemAllocAsync = {DRIVER_ID(cuMemAllocAsync), "cuMemAllocAsync",
                                              DRIVER_ID(cuMemAllocAsync_ptsz),
                                              "cuMemAllocAsync_ptsz"};
inline constexpr Function kCuMemAllocFromPoolAsync = {
    DRIVER_ID(cuMemAllocFromPoolAsync), "cuMemAllocFromPoolAsync",
    DRIVER_ID(cuMemAllocFromPoolAsync_ptsz), "cuMemAllocFromPoolAsync_ptsz"};
inline constexpr Function kCuMemFreeAsync = {DRIVER_ID(cuMemFreeAsync), "cuMemFreeAsync",
                                             DRIVER_ID(cuMemFreeAsync_ptsz), "cuMemFreeAsync_ptsz"};

#undef RUNTIME_ID
#undef DRIVER_ID

}  // namespace functions
}  // namespace nanolane::sim
