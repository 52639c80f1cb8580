// Commands that wait, allocate and mark ranges.
#include <string>

#include "libs/base/status_macros.h"
#include "tests/simulated_gpu/program/ranges.h"
#include "tests/simulated_gpu/program/runner.h"

namespace nanolane::sim {
namespace {

Deed DeedOn(const char* call, const Stream& stream) {
  Deed deed;
  deed.call = call;
  deed.device = static_cast<int32_t>(DeviceOf(stream));
  deed.stream = StreamId(stream);
  return deed;
}

Deed DeedNamed(const char* call, const std::string& name) {
  Deed deed;
  deed.call = call;
  deed.name = Lasting(name);
  return deed;
}

std::string DomainOf(const Command& command) {
  const std::string* domain = command.Option("domain");
  return domain == nullptr ? "" : *domain;
}

absl::Status ReadRange(const Command& command, const std::string& text,
                       ranges::RangeOptions& options) {
  options.text = text;
  options.domain = DomainOf(command);
  int64_t color = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("color"), color));
  options.color = static_cast<uint32_t>(color);
  int64_t category = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("category"), category));
  options.category = static_cast<uint32_t>(category);
  return absl::OkStatus();
}

Deed RangeDeed(const char* call, const std::string& name, const Command& command) {
  Deed deed = DeedNamed(call, name);
  deed.domain = Lasting(DomainOf(command));
  return deed;
}

// A call of NVTX as one of the program's; false becomes its result.
Call NvtxCall(bool was_made) { return {was_made ? kSuccess : kErrorNotInitialized, 0}; }

}  // namespace

absl::Status Runner::RunEvent(const Command& command) {
  names_.events[WordAt(command, 0)] = &CreateEvent();
  return absl::OkStatus();
}

absl::Status Runner::RunRecord(const Command& command) {
  const auto event = names_.events.find(WordAt(command, 0));
  Stream* stream = StreamNamed(WordAt(command, 1));
  if (event == names_.events.end() || stream == nullptr) {
    return Wrong(command, "needs EVENT and STREAM");
  }
  Deed deed = DeedOn("event-record", *stream);
  deed.name = Lasting(event->first);
  Do(deed, 1, [&] { return EventRecord(*event->second, *stream); });
  return absl::OkStatus();
}

absl::Status Runner::RunSync(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 0));
  if (stream == nullptr) return Wrong(command, "names no stream");
  Do(DeedOn("stream-sync", *stream), 1, [&] { return StreamSynchronize(*stream); });
  return absl::OkStatus();
}

absl::Status Runner::RunSyncDevice(const Command&) {
  Deed deed = DeedOn("device-sync", DefaultStream());
  deed.stream = -1;
  Do(deed, 1, [] { return DeviceSynchronize(); });
  return absl::OkStatus();
}

absl::Status Runner::RunSyncEvent(const Command& command) {
  const auto event = names_.events.find(WordAt(command, 0));
  if (event == names_.events.end()) return Wrong(command, "names no event");
  Do(DeedNamed("event-sync", event->first), 1, [&] { return EventSynchronize(*event->second); });
  return absl::OkStatus();
}

absl::Status Runner::RunQuery(const Command& command) {
  const auto event = names_.events.find(WordAt(command, 0));
  if (event == names_.events.end()) return Wrong(command, "names no event");
  Do(DeedNamed("event-query", event->first), 1, [&] { return EventQuery(*event->second); });
  return absl::OkStatus();
}

absl::Status Runner::RunWaitEvent(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 0));
  const auto event = names_.events.find(WordAt(command, 1));
  if (event == names_.events.end() || stream == nullptr) {
    return Wrong(command, "needs STREAM and EVENT");
  }
  Deed deed = DeedOn("stream-wait-event", *stream);
  deed.name = Lasting(event->first);
  Do(deed, 1, [&] { return StreamWaitEvent(*stream, *event->second); });
  return absl::OkStatus();
}

absl::Status Runner::RunPool(const Command& command) {
  names_.pools[WordAt(command, 0)] = &CreatePool();
  return absl::OkStatus();
}

absl::Status Runner::RunMalloc(const Command& command) {
  int64_t bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("bytes"), bytes));
  Deed deed = DeedOn("malloc", DefaultStream());
  deed.name = Lasting(WordAt(command, 0));
  deed.stream = -1;
  deed.bytes = static_cast<uint64_t>(bytes);
  Do(deed, 1, [&] {
    const Allocation allocation = Malloc(deed.bytes);
    names_.addresses[WordAt(command, 0)] = allocation.address;
    return allocation.call;
  });
  return absl::OkStatus();
}

absl::Status Runner::RunFree(const Command& command) {
  const auto address = names_.addresses.find(WordAt(command, 0));
  if (address == names_.addresses.end()) return Wrong(command, "names no allocation");
  Do(DeedNamed("free", address->first), 1, [&] { return Free(address->second); });
  return absl::OkStatus();
}

absl::Status Runner::RunMallocAsync(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 1));
  if (stream == nullptr) return Wrong(command, "needs NAME and STREAM");
  int64_t bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("bytes"), bytes));
  const std::string* pool_name = command.Option("pool");
  Pool* pool = nullptr;
  if (pool_name != nullptr) {
    const auto found = names_.pools.find(*pool_name);
    if (found == names_.pools.end()) return Wrong(command, "names no pool");
    pool = found->second;
  }
  Deed deed = DeedOn("malloc-async", *stream);
  deed.name = Lasting(WordAt(command, 0));
  deed.bytes = static_cast<uint64_t>(bytes);
  Do(deed, 1, [&] {
    const Allocation allocation = MallocAsync(*stream, deed.bytes, pool);
    names_.addresses[WordAt(command, 0)] = allocation.address;
    return allocation.call;
  });
  return absl::OkStatus();
}

absl::Status Runner::RunFreeAsync(const Command& command) {
  const auto address = names_.addresses.find(WordAt(command, 0));
  Stream* stream = StreamNamed(WordAt(command, 1));
  if (address == names_.addresses.end() || stream == nullptr) {
    return Wrong(command, "needs NAME and STREAM");
  }
  Deed deed = DeedOn("free-async", *stream);
  deed.name = Lasting(address->first);
  Do(deed, 1, [&] { return FreeAsync(*stream, address->second); });
  return absl::OkStatus();
}

absl::Status Runner::RunPush(const Command& command) {
  ranges::RangeOptions options;
  RETURN_IF_ERROR(ReadRange(command, WordAt(command, 0), options));
  Do(RangeDeed("nvtx-push", options.text, command), 1,
     [&] { return NvtxCall(ranges::Push(options)); });
  return absl::OkStatus();
}

absl::Status Runner::RunPop(const Command& command) {
  Do(RangeDeed("nvtx-pop", "", command), 1,
     [&] { return NvtxCall(ranges::Pop(DomainOf(command))); });
  return absl::OkStatus();
}

absl::Status Runner::RunMark(const Command& command) {
  ranges::RangeOptions options;
  RETURN_IF_ERROR(ReadRange(command, WordAt(command, 0), options));
  Do(RangeDeed("nvtx-mark", options.text, command), 1,
     [&] { return NvtxCall(ranges::Mark(options)); });
  return absl::OkStatus();
}

absl::Status Runner::RunRangeStart(const Command& command) {
  ranges::RangeOptions options;
  RETURN_IF_ERROR(ReadRange(command, WordAt(command, 1), options));
  uint64_t& id = names_.ranges[WordAt(command, 0)];
  Do(RangeDeed("nvtx-start", options.text, command), 1,
     [&] { return NvtxCall(ranges::Start(options, id)); });
  return absl::OkStatus();
}

absl::Status Runner::RunRangeEnd(const Command& command) {
  const auto range = names_.ranges.find(WordAt(command, 0));
  if (range == names_.ranges.end()) return Wrong(command, "names no range");
  Do(RangeDeed("nvtx-end", range->first, command), 1,
     [&] { return NvtxCall(ranges::End(DomainOf(command), range->second)); });
  return absl::OkStatus();
}

}  // namespace nanolane::sim
