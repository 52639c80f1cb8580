#include "services/collector/inject/testing/stand_in_c10.h"

namespace {
Reported g_last = {};
}  // namespace

namespace c10 {

void reportMemoryUsageToProfiler(void* address, int64_t bytes, size_t allocated, size_t reserved,
                                 Device device) {
  g_last = {.calls = g_last.calls + 1,
            .address = address,
            .bytes = bytes,
            .allocated = allocated,
            .reserved = reserved,
            .device = device};
}

}  // namespace c10

extern "C" const Reported* LastReport() { return &g_last; }
