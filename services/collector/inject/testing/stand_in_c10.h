// What of PyTorch's libc10 and libc10_cuda the hook looks for, for its test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  int8_t type;
  int8_t index;
};

// Of libc10.
void reportMemoryUsageToProfiler(void* address, int64_t bytes, size_t allocated, size_t reserved,
                                 Device device);

}  // namespace c10

// What libc10's function was called with last, and how often.
struct Reported {
  uint64_t calls;
  void* address;
  int64_t bytes;
  size_t allocated;
  size_t reserved;
  c10::Device device;
};
extern "C" const Reported* LastReport();

// Of libc10_cuda: a change of its allocator.
extern "C" void ChangeMemory(void* address, int64_t bytes, size_t allocated, size_t reserved,
                             int8_t type, int8_t index);
