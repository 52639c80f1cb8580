#include "tests/simulated_gpu/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/simulated_gpu/callbacks.h"
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {
namespace {

// From the launch to the work's start on an idle stream.
constexpr int64_t kLaunchLatencyNs = 2000;
constexpr int64_t kGapNs = 200;
constexpr int kMaxDevices = 16;
constexpr uint64_t kMemoryBytes = 16ULL << 30;
constexpr uint64_t kFirstPoolAddress = 0x5000'0000'0000;

struct Machine {
  std::array<Device, kMaxDevices> devices;
  std::array<Context, kMaxDevices> contexts;
  std::array<Pool, kMaxDevices> pools;
  std::mutex kernels_mutex;
  std::map<std::string, Kernel, std::less<>> kernels;
  // Objects that programs made; as deques they stay where they are.
  std::mutex objects_mutex;
  std::deque<Event> events;
  std::deque<Graph> graphs;
  std::deque<Pool> made_pools;

  Machine() {
    for (uint32_t i = 0; i < kMaxDevices; ++i) {
      Device& device = devices[i];
      std::snprintf(device.name, sizeof(device.name), "Simulated GPU (test)");
      std::memcpy(device.uuid, "NANOLANE-TEST-", 14);
      device.uuid[15] = static_cast<uint8_t>(i);
      device.memory_bytes = kMemoryBytes;
      contexts[i].id = i + 1;
      contexts[i].device = i;
      contexts[i].default_stream = new Stream(contexts[i], kDefaultStreamId, false);
      pools[i].address = kFirstPoolAddress + i;
      pools[i].device = i;
    }
  }
};

// Outlives every thread that may still launch while the process exits.
Machine& GetMachine() {
  static auto* const machine = new Machine;
  return *machine;
}

struct ThreadState {
  int device = 0;
  std::vector<Context*> pushed;
  std::array<Stream*, kMaxDevices> streams{};
};
thread_local ThreadState thread_state;

}  // namespace

Interval Stream::Enqueue(int64_t duration_ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    const int64_t oldest_end_ns = ends_[count_ % kStreamDepth];
    if (oldest_end_ns <= MonotonicNow()) break;
    lock.unlock();
    WaitUntil(oldest_end_ns);
    lock.lock();
  }
  Interval interval{};
  interval.start_ns = std::max(MonotonicNow() + kLaunchLatencyNs, free_at_ns_ + kGapNs);
  interval.end_ns = interval.start_ns + duration_ns;
  free_at_ns_ = interval.end_ns;
  ends_[count_++ % kStreamDepth] = interval.end_ns;
  return interval;
}

int64_t Stream::BusyUntil() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return free_at_ns_;
}

void Stream::NotBefore(int64_t time_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_at_ns_ = std::max(free_at_ns_, time_ns);
}

CUstream Stream::Handle() {
  const bool is_implicit = per_thread || id == kDefaultStreamId;
  return is_implicit ? nullptr : reinterpret_cast<CUstream>(this);
}

Stream& Context::AddStream(bool of_thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  streams_.push_back(new Stream(*this, next_stream_id_++, of_thread));
  return *streams_.back();
}

std::vector<Stream*> Context::Streams() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Stream*> streams(streams_.begin(), streams_.end());
  streams.push_back(default_stream);
  return streams;
}

Device& DeviceAt(int index) { return GetMachine().devices.at(static_cast<size_t>(index)); }
Context& ContextOf(int device) { return GetMachine().contexts.at(static_cast<size_t>(device)); }

Context& Activate(int device) {
  Context& context = ContextOf(device);
  if (!context.is_active.exchange(true)) TellContextCreated(context);
  return context;
}

Context* ContextFrom(CUcontext handle) {
  for (Context& context : GetMachine().contexts) {
    if (context.Handle() == handle) return &context;
  }
  return nullptr;
}

Context& CurrentContext() {
  if (!thread_state.pushed.empty()) return *thread_state.pushed.back();
  return Activate(thread_state.device);
}

void PushContext(Context& context) { thread_state.pushed.push_back(&context); }

Context* PopContext() {
  if (thread_state.pushed.empty()) return nullptr;
  Context* context = thread_state.pushed.back();
  thread_state.pushed.pop_back();
  return context;
}

Pool& DefaultPool(uint32_t device) { return GetMachine().pools.at(device); }

void SetDevice(int device) {
  Init();
  thread_state.device = device;
  Activate(device);
}

int DeviceCount() {
  const int64_t count = GetFaults().devices.load();
  return static_cast<int>(std::clamp<int64_t>(count, 0, kMaxDevices));
}

const Kernel& KernelNamed(std::string_view mangled_name) {
  Machine& machine = GetMachine();
  const std::lock_guard<std::mutex> lock(machine.kernels_mutex);
  const auto found = machine.kernels.find(mangled_name);
  if (found != machine.kernels.end()) return found->second;
  std::string name(mangled_name);
  return machine.kernels.emplace(name, Kernel{name}).first->second;
}

Stream& CreateStream() {
  Init();
  Stream& stream = CurrentContext().AddStream(false);
  TellStreamCreated(stream);
  return stream;
}

Stream& DefaultStream() {
  Init();
  return *CurrentContext().default_stream;
}

Stream& PerThreadStream() {
  Init();
  Context& context = CurrentContext();
  Stream*& stream = thread_state.streams[context.device];
  if (stream == nullptr) {
    stream = &context.AddStream(true);
    TellStreamCreated(*stream);
  }
  return *stream;
}

Event& CreateEvent() {
  Init();
  Context& context = CurrentContext();
  Machine& machine = GetMachine();
  const std::lock_guard<std::mutex> lock(machine.objects_mutex);
  Event& event = machine.events.emplace_back();
  event.id = static_cast<uint32_t>(machine.events.size());
  event.context = &context;
  return event;
}

Graph& CreateGraph(std::vector<GraphNode> nodes) {
  Machine& machine = GetMachine();
  const std::lock_guard<std::mutex> lock(machine.objects_mutex);
  Graph& graph = machine.graphs.emplace_back();
  graph.id = static_cast<uint32_t>(machine.graphs.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    graph.node_ids.push_back((uint64_t{graph.id} << 32) + i + 1);
  }
  graph.nodes = std::move(nodes);
  return graph;
}

uint32_t StreamId(const Stream& stream) { return stream.id; }
uint32_t DeviceOf(const Stream& stream) { return stream.context.device; }

Pool& CreatePool() {
  Init();
  const uint32_t device = CurrentContext().device;
  Machine& machine = GetMachine();
  Pool* pool = nullptr;
  {
    const std::lock_guard<std::mutex> lock(machine.objects_mutex);
    pool = &machine.made_pools.emplace_back();
    pool->address = kFirstPoolAddress + kMaxDevices + machine.made_pools.size();
    pool->device = device;
  }
  TellPoolCreated(*pool);
  return *pool;
}

}  // namespace nanolane::sim
