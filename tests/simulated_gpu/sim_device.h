// A GPU that does not exist, for tests of the live capture: programs that link it make "CUDA"
// calls, and the simulated CUPTI (libcupti.so.13 beside it) reports them to whoever subscribed.
// Nothing is computed; a stream does its work in order in simulated time, which is real time: work
// starts when it was launched and the stream was free, and a call that waits really blocks. A
// stream holds 1,024 pieces of work; a launch into a full one blocks, as on a GPU. The legacy
// default stream does not wait for others here, nor they for it.
//
// Every call is CUPTI's story of one runtime call with the driver call nested in it, under one
// correlation, unless it is asked to be a driver call alone. Thread-safe. After fork, calls of
// the child fail with kErrorNotInitialized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanolane::sim {

// Objects live as long as the process.
struct Kernel;
struct Stream;
struct Event;
struct Graph;
struct Pool;

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

inline constexpr int kSuccess = 0;
inline constexpr int kErrorInvalidValue = 1;
inline constexpr int kErrorNotInitialized = 3;
inline constexpr int kErrorNotReady = 600;

// What a call gave: its CUDA result and its correlation.
struct Call {
  int result = kSuccess;
  uint32_t correlation = 0;
};

// The driver's cuInit: loads $CUDA_INJECTION64_PATH and calls its InitializeInjection, once per
// process. Every other call does it first, as the runtime does.
int Init();

void SetDevice(int device);  // of the calling thread
int DeviceCount();

const Kernel& KernelNamed(std::string_view mangled_name);
Stream& CreateStream();     // on the current device
Stream& DefaultStream();    // of the current device
Stream& PerThreadStream();  // the calling thread's; calls on it are the _ptsz variants
Event& CreateEvent();
Pool& CreatePool();  // on the current device

uint32_t StreamId(const Stream& stream);  // as CUPTI numbers it
uint32_t DeviceOf(const Stream& stream);

enum class LaunchApi {
  kRuntime,     // cudaLaunchKernel, then cuLaunchKernel
  kRuntimeExC,  // cudaLaunchKernelExC, then cuLaunchKernelEx
  kDriver,      // cuLaunchKernel alone, as Triton does
  kDriverEx,    // cuLaunchKernelEx alone
};

struct LaunchOptions {
  Dim3 grid;
  Dim3 block;
  int64_t duration_ns = 1000;
  uint32_t shared_bytes = 0;
  LaunchApi api = LaunchApi::kRuntime;
  int fails_with = kSuccess;  // not kSuccess: the call returns it, and the device does nothing
};
Call Launch(Stream& stream, const Kernel& kernel, const LaunchOptions& options = {});

enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost };
struct CopyOptions {
  CopyKind kind = CopyKind::kHostToDevice;
  uint64_t bytes = 0;
  bool is_async = true;
  bool is_pinned = true;    // the host's memory; a pageable one makes an async copy to it block
  int64_t duration_ns = 0;  // 0: by its bytes
};
Call Memcpy(Stream& stream, const CopyOptions& options);
// An asynchronous copy from the stream's device to another one.
Call MemcpyPeer(Stream& stream, int to_device, uint64_t bytes);

struct SetOptions {
  uint8_t value = 0;
  uint64_t bytes = 0;
  bool is_async = true;
};
Call Memset(Stream& stream, const SetOptions& options);

Call StreamSynchronize(Stream& stream);
Call DeviceSynchronize();
Call EventRecord(Event& event, Stream& stream);
Call EventSynchronize(Event& event);
Call EventQuery(Event& event);  // kErrorNotReady: not reached yet
Call StreamWaitEvent(Stream& stream, Event& event);

struct GraphNode {
  enum class Type { kKernel, kMemcpy, kMemset };
  Type type = Type::kKernel;
  const Kernel* kernel = nullptr;  // of kKernel
  int64_t duration_ns = 1000;
  uint64_t bytes = 0;  // of kMemcpy (device to device) and kMemset
};
Graph& CreateGraph(std::vector<GraphNode> nodes);
Call GraphLaunch(Graph& graph, Stream& stream);

struct Allocation {
  Call call;
  uint64_t address = 0;
};
Allocation Malloc(uint64_t bytes);
Call Free(uint64_t address);
Allocation MallocAsync(Stream& stream, uint64_t bytes, Pool* pool = nullptr);  // null: the default
Call FreeAsync(Stream& stream, uint64_t address);

// Another tool in this process, as the capture sees it: it holds CUPTI's subscription.
void HoldSubscription(std::string_view tool);
void ReleaseSubscription();

// CUPTI breaks down: the STATE domain says FATAL_ERROR, and it has finalized itself.
void BreakCupti();

}  // namespace nanolane::sim
