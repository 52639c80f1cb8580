#include "services/collector/inject/environment.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace nanolane::inject {
namespace {

constexpr size_t kVariables = static_cast<size_t>(Variable::kCount);
constexpr const char* kNames[kVariables] = {"NANOLANE_SOCKET",     "NANOLANE_PROJECT",
                                            "NANOLANE_INJECT_LOG", "NANOLANE_CUPTI",
                                            "CUDA_HOME",           "CUDA_PATH"};
constexpr size_t kMostBytes = 1024;

char g_values[kVariables][kMostBytes];
bool g_set[kVariables];

}  // namespace

void CopyEnvironment() {
  for (size_t i = 0; i < kVariables; ++i) {
    const char* value = getenv(kNames[i]);
    if (value == nullptr || value[0] == 0 || strlen(value) >= kMostBytes) continue;
    strcpy(g_values[i], value);
    g_set[i] = true;
  }
}

const char* ValueOf(Variable variable) {
  const auto i = static_cast<size_t>(variable);
  return g_set[i] ? g_values[i] : nullptr;
}

}  // namespace nanolane::inject
