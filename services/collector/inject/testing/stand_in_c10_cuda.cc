#include "services/collector/inject/testing/stand_in_c10.h"

extern "C" void ChangeMemory(void* address, int64_t bytes, size_t allocated, size_t reserved,
                             int8_t type, int8_t index) {
  c10::reportMemoryUsageToProfiler(address, bytes, allocated, reserved, {type, index});
}
