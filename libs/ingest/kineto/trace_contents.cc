#include "libs/ingest/kineto/trace_contents.h"

namespace nanolane::ingest::kineto {
namespace {

// Host records are by far the most where stacks were on; the rest shares the other half.
template <typename Sorter>
typename Sorter::Options Share(const TraceContents::Options& options, size_t divisor) {
  return {.memory_bytes = options.memory_bytes / divisor, .spill_dir = options.spill_dir};
}

}  // namespace

TraceContents::TraceContents(const Options& options)
    : hosts(Share<HostSorter>(options, 4)),
      memory(Share<MemorySorter>(options, 8)),
      calls(std::make_unique<CallSorter>(Share<CallSorter>(options, 8))),
      devices(std::make_unique<DeviceSorter>(Share<DeviceSorter>(options, 8))) {}

}  // namespace nanolane::ingest::kineto
