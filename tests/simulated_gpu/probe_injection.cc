// An injection library that does nothing but append what it meets to $SIM_PROBE_FILE, a line each:
// how CUDA and NVTX load it, which libraries it finds, which ranges the program makes.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void Tell(const std::string& line) {
  const char* path = std::getenv("SIM_PROBE_FILE");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "ae");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// All that an injection library may want.
constexpr const char* kCuptiFunctions[] = {
    "cuptiGetVersion",
    "cuptiGetResultString",
    "cuptiGetTimestamp",
    "cuptiSubscribe",
    "cuptiSubscribe_v2",
    "cuptiUnsubscribe",
    "cuptiEnableCallback",
    "cuptiEnableDomain",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityEnableAndDump",
    "cuptiActivityDisable",
    "cuptiActivityFlushAll",
    "cuptiActivityFlushPeriod",
    "cuptiActivityGetNextRecord",
    "cuptiActivityGetNumDroppedRecords",
    "cuptiActivitySetAttribute",
    "cuptiActivityGetAttribute",
    "cuptiSetThreadIdType",
    "cuptiActivityRegisterTimestampCallback",
    "cuptiGetStreamIdEx",
    "cuptiGetContextId",
    "cuptiGetDeviceId",
    "cuptiFinalize",
    "cuptiActivityEnableAllSyncRecords",
    "cuptiActivityEnableRuntimeApi",
    "cuptiActivityEnableDriverApi",
};

void TellOfCupti() {
  void* library = dlopen("libcupti.so.13", RTLD_NOW);
  if (library == nullptr) return Tell("no libcupti.so.13");
  for (const char* name : kCuptiFunctions) {
    if (dlsym(library, name) == nullptr) Tell(std::string("missing ") + name);
  }
  uint32_t version = 0;
  Find<CUptiResult (*)(uint32_t*)>(library, "cuptiGetVersion")(&version);
  Tell("cupti " + std::to_string(version));
}

void TellOfCuda() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return Tell("no libcuda.so.1 in this process");
  if (Find<CUresult (*)(unsigned int)>(library, "cuInit")(0) != CUDA_SUCCESS) Tell("cuInit failed");
  int count = 0;
  Find<CUresult (*)(int*)>(library, "cuDeviceGetCount")(&count);
  Tell("devices " + std::to_string(count));
}

}  // namespace

extern "C" int InitializeInjection() {
  Tell("InitializeInjection");
  TellOfCuda();
  TellOfCupti();
  return 1;
}

#ifdef NANOLANE_HAVE_NVTX

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#undef NVTX_NO_IMPL

namespace {

int Push(const char* text) {
  Tell(std::string("push ") + text);
  return 0;
}

int Pop() {
  Tell("pop");
  return 0;
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  Tell("InitializeInjectionNvtx2");
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&Push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&Pop);
  return 1;
}

#endif
