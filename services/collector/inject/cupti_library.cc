#include "services/collector/inject/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "services/collector/inject/environment.h"
#include "services/collector/inject/log.h"

namespace nanolane::inject {
namespace {

constexpr size_t kPathBytes = 1024;

struct VersionRange {
  uint32_t first;
  uint32_t last;
  const char* fault;
};

// Layouts that were compared, and what is known to be wrong in them.
constexpr VersionRange kVersions[] = {
    {18, 27, nullptr},  // 12.0 to 12.8
    {28, 28, nullptr},  // 12.9
    {130000, 130000,
     "CUPTI 13.0 gives no end to some synchronizations, and wrong launch ids for CUDA graphs in "
     "every capture of a process after the first: CUDA 13.1 update 1 has neither"},
    {130001, 130100,
     "this CUPTI can give wrong launch ids for CUDA graphs in every capture of a process after the "
     "first: CUDA 13.1 update 1 does not"},
    {130101, 130599, nullptr},
};

template <typename Function>
bool Bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The first that is missing of those without which nothing works; null: none.
const char* BindAll(void* library, CuptiLibrary& cupti) {
  Bind(library, "cuptiSubscribe_v2", cupti.subscribe_v2);
  Bind(library, "cuptiActivityEnableAndDump", cupti.enable_and_dump);
  Bind(library, "cuptiActivitySetAttribute", cupti.set_attribute);
  struct Needed {
    const char* name;
    bool found;
  };
  const Needed needed[] = {
      {"cuptiGetVersion", Bind(library, "cuptiGetVersion", cupti.get_version)},
      {"cuptiGetResultString", Bind(library, "cuptiGetResultString", cupti.get_result_string)},
      {"cuptiGetTimestamp", Bind(library, "cuptiGetTimestamp", cupti.get_timestamp)},
      {"cuptiSubscribe", Bind(library, "cuptiSubscribe", cupti.subscribe)},
      {"cuptiEnableCallback", Bind(library, "cuptiEnableCallback", cupti.enable_callback)},
      {"cuptiGetCallbackName", Bind(library, "cuptiGetCallbackName", cupti.get_callback_name)},
      {"cuptiActivityRegisterCallbacks",
       Bind(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks)},
      {"cuptiActivityEnable", Bind(library, "cuptiActivityEnable", cupti.enable)},
      {"cuptiActivityDisable", Bind(library, "cuptiActivityDisable", cupti.disable)},
      {"cuptiActivityFlushAll", Bind(library, "cuptiActivityFlushAll", cupti.flush_all)},
      {"cuptiActivityGetNextRecord",
       Bind(library, "cuptiActivityGetNextRecord", cupti.get_next_record)},
      {"cuptiActivityGetNumDroppedRecords",
       Bind(library, "cuptiActivityGetNumDroppedRecords", cupti.get_dropped)},
      {"cuptiGetStreamIdEx", Bind(library, "cuptiGetStreamIdEx", cupti.get_stream_id)},
      {"cuptiGetDeviceId", Bind(library, "cuptiGetDeviceId", cupti.get_device_id)},
      {"cuptiFinalize", Bind(library, "cuptiFinalize", cupti.finalize)},
  };
  for (const Needed& function : needed) {
    if (!function.found) return function.name;
  }
  return nullptr;
}

// Folder of a loaded library whose file name begins with `name`.
struct FolderOf {
  const char* name;
  char folder[kPathBytes];
};

int TakeFolder(dl_phdr_info* info, size_t, void* data) {
  auto* wanted = static_cast<FolderOf*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  if (slash == nullptr || strncmp(slash + 1, wanted->name, strlen(wanted->name)) != 0) return 0;
  snprintf(wanted->folder, sizeof(wanted->folder), "%.*s",
           static_cast<int>(slash - info->dlpi_name), info->dlpi_name);
  return 1;
}

void* OpenIn(const char* folder, const char* inner, const char* soname) {
  char path[kPathBytes + 128];
  snprintf(path, sizeof(path), "%s%s/%s", folder, inner, soname);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

// Beside CUDA's runtime as Python wheels lay it out, then where toolkits are installed.
void* OpenNearby(const char* soname) {
  FolderOf runtime = {.name = "libcudart.so", .folder = {}};
  dl_iterate_phdr(TakeFolder, &runtime);
  if (runtime.folder[0] != 0) {
    for (const char* inner :
         {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64"}) {
      if (void* library = OpenIn(runtime.folder, inner, soname)) return library;
    }
  }
  for (const Variable variable : {Variable::kCudaHome, Variable::kCudaPath}) {
    const char* root = ValueOf(variable);
    if (root == nullptr) continue;
    if (void* library = OpenIn(root, "/extras/CUPTI/lib64", soname)) return library;
    if (void* library = OpenIn(root, "/lib64", soname)) return library;
  }
  const char* root = strstr(soname, ".13") != nullptr ? "/usr/local/cuda-13" : "/usr/local/cuda-12";
  for (const char* folder : {"/usr/local/cuda", root}) {
    if (void* library = OpenIn(folder, "/extras/CUPTI/lib64", soname)) return library;
    if (void* library = OpenIn(folder, "/lib64", soname)) return library;
  }
  return nullptr;
}

bool DriverKnowsCuda13() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return true;
  CUresult (*get_version)(int*) = nullptr;
  int version = 0;
  if (!Bind(driver, "cuDriverGetVersion", get_version)) return true;
  return get_version(&version) != CUDA_SUCCESS || version >= 13000;
}

// A copy that the process has loaded already comes first: two would fight for the driver.
void* Open() {
  const char* const newest_first[] = {"libcupti.so.13", "libcupti.so.12"};
  const char* const oldest_first[] = {"libcupti.so.12", "libcupti.so.13"};
  const auto& sonames = DriverKnowsCuda13() ? newest_first : oldest_first;
  for (const char* soname : sonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD)) return library;
  }
  if (const char* path = ValueOf(Variable::kCupti)) {
    if (void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL)) return library;
    Log("cannot load NANOLANE_CUPTI=%s: %s", path, dlerror());
  }
  for (const char* soname : sonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL)) return library;
    if (void* library = OpenNearby(soname)) return library;
  }
  return nullptr;
}

const VersionRange* RangeOf(uint32_t version) {
  for (const VersionRange& range : kVersions) {
    if (version >= range.first && version <= range.last) return &range;
  }
  return nullptr;
}

CuptiLibrary g_cupti;
bool g_loaded = false;

}  // namespace

const char* KnownFaultOf(uint32_t version) {
  const VersionRange* range = RangeOf(version);
  return range != nullptr ? range->fault : nullptr;
}

bool LayoutIsKnown(uint32_t version) { return RangeOf(version) != nullptr; }

const CuptiLibrary* LoadCupti(CuptiProblem* problem, char* text, size_t text_bytes) {
  *problem = CuptiProblem::kNone;
  if (g_loaded) return &g_cupti;
  void* library = Open();
  if (library == nullptr) {
    *problem = CuptiProblem::kNotFound;
    snprintf(text, text_bytes,
             "no libcupti.so.13 or .12 can be loaded: install CUDA's CUPTI, or name its file in "
             "NANOLANE_CUPTI (%s)",
             dlerror());
    return nullptr;
  }
  CuptiLibrary cupti{};
  if (const char* missing = BindAll(library, cupti)) {
    *problem = CuptiProblem::kIncomplete;
    snprintf(text, text_bytes, "the process's libcupti has no %s: it is broken or too old",
             missing);
    return nullptr;
  }
  if (cupti.get_version(&cupti.version) != CUPTI_SUCCESS || !LayoutIsKnown(cupti.version)) {
    *problem = CuptiProblem::kUnknownVersion;
    snprintf(text, text_bytes,
             "record layouts of CUPTI version %u are not known to this version of Nanolane, which "
             "knows CUDA 12.0 to 13.5",
             cupti.version);
    return nullptr;
  }
  g_cupti = cupti;
  g_loaded = true;
  Log("cupti version %u", cupti.version);
  return &g_cupti;
}

}  // namespace nanolane::inject
