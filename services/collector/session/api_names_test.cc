#include "services/collector/session/api_names.h"

#include "catch2/catch.hpp"

namespace nanolane::collector {

TEST_CASE("calls that wait are named by CUPTI's numbers") {
  CHECK(SyncCallName(0, 131) == "cudaStreamSynchronize");
  CHECK(SyncCallName(0, 239) == "cudaStreamSynchronize");
  CHECK(SyncCallName(0, 137) == "cudaEventSynchronize");
  CHECK(SyncCallName(0, 165) == "cudaDeviceSynchronize");
  CHECK(SyncCallName(0, 147) == "cudaStreamWaitEvent");
  CHECK(SyncCallName(0, 247) == "cudaStreamWaitEvent");
  CHECK(SyncCallName(1, 126) == "cuStreamSynchronize");
  CHECK(SyncCallName(1, 121) == "cuEventSynchronize");
  CHECK(SyncCallName(1, 17) == "cuCtxSynchronize");
  CHECK(SyncCallName(1, 800) == "cuCtxSynchronize");
  CHECK(SyncCallName(1, 295) == "cuStreamWaitEvent");
  CHECK(SyncCallName(1, 131).empty());
  CHECK(SyncCallName(0, 211).empty());
}

TEST_CASE("kernel launches are told from graphs and copies") {
  CHECK(LaunchesKernel(0, 211));
  CHECK(LaunchesKernel(0, 506));
  CHECK(LaunchesKernel(1, 307));
  CHECK_FALSE(LaunchesKernel(0, 311));  // cudaGraphLaunch
  CHECK_FALSE(LaunchesKernel(1, 514));  // cuGraphLaunch
  CHECK_FALSE(LaunchesKernel(0, 284));  // cudaLaunchHostFunc
  CHECK_FALSE(LaunchesKernel(1, 211));
}

TEST_CASE("copies and memory are named as CUPTI numbers them, and unknown numbers are harmless") {
  CHECK(CopyWord(1) == "HtoD");
  CHECK(CopyWord(10) == "PtoP");
  CHECK(CopyWord(11).empty());
  CHECK(CopyDirectionOf(7) == trace::CopyDirection::kDeviceToDevice);
  CHECK(CopyDirectionOf(255) == trace::CopyDirection::kNone);
  CHECK(MemoryWord(6) == "Device Static");
  CHECK(MemoryWord(8) == "Unknown");
  CHECK(MemoryKindOf(7) == trace::MemoryKind::kManaged);
  CHECK(IsDeviceMemory(6));
  CHECK_FALSE(IsDeviceMemory(2));
  CHECK_FALSE(IsDeviceMemory(5));
}

}  // namespace nanolane::collector
