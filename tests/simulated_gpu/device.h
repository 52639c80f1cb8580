// The model behind sim_device.h: devices, contexts, streams and their time. Thread-safe.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/simulated_gpu/sim_device.h"

namespace nanolane::sim {

inline constexpr uint32_t kDefaultStreamId = 7;
inline constexpr size_t kStreamDepth = 1024;

struct Device {
  char name[64];
  uint8_t uuid[16];
  uint64_t memory_bytes;
  std::atomic<uint64_t> used_bytes;
};

struct Context;

struct Interval {
  int64_t start_ns;
  int64_t end_ns;
};

struct Stream {
  Stream(Context& stream_context, uint32_t stream_id, bool of_thread)
      : context(stream_context), id(stream_id), per_thread(of_thread) {}

  // Queues work, waiting while the stream is full.
  Interval Enqueue(int64_t duration_ns);
  // Until when it is busy; past: idle.
  int64_t BusyUntil();
  void NotBefore(int64_t time_ns);
  // As calls name it.
  CUstream Handle();

  Context& context;
  const uint32_t id;
  const bool per_thread;

 private:
  std::mutex mutex_;
  int64_t free_at_ns_ = 0;
  uint64_t count_ = 0;
  std::array<int64_t, kStreamDepth> ends_{};  // of the work `i`, at i % kStreamDepth
};

struct Context {
  uint32_t id = 0;
  uint32_t device = 0;
  std::atomic<bool> is_active{false};
  Stream* default_stream = nullptr;

  CUcontext Handle() { return reinterpret_cast<CUcontext>(this); }
  Stream& AddStream(bool of_thread);
  std::vector<Stream*> Streams();

 private:
  std::mutex mutex_;
  std::deque<Stream*> streams_;
  uint32_t next_stream_id_ = 13;
};

struct Kernel {
  std::string name;
};

struct Event {
  uint32_t id = 0;
  Context* context = nullptr;
  std::mutex mutex;
  uint32_t stream_id = 0;
  uint64_t sync_id = 0;  // of the latest record
  int64_t at_ns = 0;
};

struct Graph {
  uint32_t id = 0;
  std::vector<GraphNode> nodes;
  std::vector<uint64_t> node_ids;
};

struct Pool {
  uint64_t address = 0;
  uint32_t device = 0;
  std::atomic<uint64_t> used_bytes{0};
  std::atomic<uint64_t> size_bytes{0};
};

Device& DeviceAt(int index);
// The device's primary context, active or not.
Context& ContextOf(int device);
// Makes it active, which CUPTI hears of.
Context& Activate(int device);
// Null: not one of ours.
Context* ContextFrom(CUcontext handle);

Context& CurrentContext();  // of the calling thread, active
void PushContext(Context& context);
Context* PopContext();  // null: none was pushed

Pool& DefaultPool(uint32_t device);

// Whether this process is a fork of the one that called Init.
bool IsForked();
bool IsInitialized();

}  // namespace nanolane::sim
