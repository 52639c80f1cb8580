// The simulated GPU keeps CUPTI's rules, and fails as it is told to.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/simulated_gpu/cupti_client.h"
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/sim_device.h"

namespace nanolane::sim {
namespace {

constexpr CUpti_ActivityKind kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
using KernelRecord = CUpti_ActivityKernel10;

// A fault while it lives.
class WithFault {
 public:
  WithFault(const char* name, int64_t value, int64_t before = 0) : name_(name), before_(before) {
    REQUIRE(SetFault(name, value));
  }
  ~WithFault() { SetFault(name_, before_); }

 private:
  const char* name_;
  int64_t before_;
};

const Kernel& AnyKernel() { return KernelNamed("_Z3addPfS_i"); }

std::set<uint32_t> Correlations(const std::vector<KernelRecord>& records) {
  std::set<uint32_t> correlations;
  for (const KernelRecord& record : records) correlations.insert(record.correlationId);
  return correlations;
}

TEST_CASE("kernels are recorded only while their kind is on") {
  CuptiClient client;
  Stream& stream = CreateStream();
  Launch(stream, AnyKernel());
  REQUIRE(cuptiActivityEnable(kKernels) == CUPTI_SUCCESS);
  const Call on = Launch(stream, AnyKernel(), {.grid = {4, 2, 1}, .block = {128, 1, 1}});
  REQUIRE(cuptiActivityDisable(kKernels) == CUPTI_SUCCESS);
  Launch(stream, AnyKernel());
  StreamSynchronize(stream);
  const auto records = client.Records<KernelRecord>(kKernels);
  REQUIRE(records.size() == 1);
  CHECK(records[0].correlationId == on.correlation);
  CHECK(records[0].streamId == StreamId(stream));
  CHECK(std::string(records[0].name) == "_Z3addPfS_i");
  CHECK(records[0].gridX == 4);
  CHECK(records[0].blockX == 128);
  CHECK(records[0].end - records[0].start == 1000);
}

TEST_CASE("a kernel that runs is delivered once it has ended, a forced flush delivers it untimed") {
  CuptiClient client;
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  Launch(stream, AnyKernel(), {.duration_ns = 30'000'000});
  CHECK(client.Records<KernelRecord>(kKernels).empty());
  StreamSynchronize(stream);
  CHECK(client.Records<KernelRecord>(kKernels).size() == 1);
  Launch(stream, AnyKernel(), {.duration_ns = 30'000'000});
  const auto forced = client.Records<KernelRecord>(kKernels, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  REQUIRE(forced.size() == 2);
  CHECK(forced[1].start == 0);
  CHECK(forced[1].end == 0);
}

TEST_CASE("a stream works in order, and starts nothing before its launch") {
  CuptiClient client;
  REQUIRE(client.Subscribe() == CUPTI_SUCCESS);
  client.EnableCallbacks(CUPTI_CB_DOMAIN_RUNTIME_API);
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  for (int i = 0; i < 3000; ++i) Launch(stream, AnyKernel(), {.duration_ns = 500});
  StreamSynchronize(stream);
  auto records = client.Records<KernelRecord>(kKernels);
  REQUIRE(records.size() == 3000);
  const auto by_correlation = [](const KernelRecord& a, const KernelRecord& b) {
    return a.correlationId < b.correlationId;
  };
  CHECK_FALSE(std::is_sorted(records.begin(), records.end(), by_correlation));
  std::sort(records.begin(), records.end(), by_correlation);
  std::map<uint32_t, uint64_t> enters;
  for (const SeenCallback& seen : client.callbacks()) {
    if (seen.site == CUPTI_API_ENTER) enters[seen.correlation] = seen.time;
  }
  uint64_t free_at = 0;
  for (const KernelRecord& record : records) {
    CHECK(record.start >= free_at);
    CHECK(record.start >= enters.at(record.correlationId));
    free_at = record.end;
  }
}

TEST_CASE("a launch is a runtime call with a driver call in it, under one correlation") {
  CuptiClient client;
  REQUIRE(client.Subscribe() == CUPTI_SUCCESS);
  client.EnableCallbacks(CUPTI_CB_DOMAIN_RUNTIME_API);
  client.EnableCallbacks(CUPTI_CB_DOMAIN_DRIVER_API);
  Stream& stream = CreateStream();
  const Call call = Launch(stream, AnyKernel());
  const auto seen = client.callbacks();
  REQUIRE(seen.size() == 4);
  const std::vector<std::string> functions = {seen[0].function, seen[1].function, seen[2].function,
                                              seen[3].function};
  CHECK(functions == std::vector<std::string>{"cudaLaunchKernel", "cuLaunchKernel",
                                              "cuLaunchKernel", "cudaLaunchKernel"});
  CHECK(seen[0].site == CUPTI_API_ENTER);
  CHECK(seen[1].site == CUPTI_API_ENTER);
  CHECK(seen[2].site == CUPTI_API_EXIT);
  CHECK(seen[3].site == CUPTI_API_EXIT);
  for (const SeenCallback& each : seen) {
    CHECK(each.correlation == call.correlation);
    CHECK(each.thread == syscall(SYS_gettid));
    CHECK(each.context == 1);
    uint32_t id = 0;
    CHECK(cuptiGetStreamIdEx(nullptr, each.stream, 0, &id) == CUPTI_SUCCESS);
    CHECK(id == StreamId(stream));
  }
  CHECK(seen[0].carried == 0);
  CHECK(seen[3].carried == call.correlation);
}

TEST_CASE("a driver launch has no runtime call, a failing one no device work") {
  CuptiClient client;
  REQUIRE(client.Subscribe() == CUPTI_SUCCESS);
  client.EnableCallbacks(CUPTI_CB_DOMAIN_RUNTIME_API);
  client.EnableCallbacks(CUPTI_CB_DOMAIN_DRIVER_API);
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  Launch(stream, AnyKernel(), {.api = LaunchApi::kDriver});
  const Call failed = Launch(stream, AnyKernel(), {.fails_with = 700});
  CHECK(failed.result == 700);
  const auto seen = client.callbacks();
  REQUIRE(seen.size() == 6);
  CHECK(seen[0].function == "cuLaunchKernel");
  CHECK(seen[1].site == CUPTI_API_EXIT);
  CHECK(seen[5].result == 700);
  StreamSynchronize(stream);
  CHECK(client.Records<KernelRecord>(kKernels).size() == 1);
}

TEST_CASE("there is one subscriber, and who it is can be read") {
  CuptiClient client;
  HoldSubscription("Foreign Tool");
  CHECK(client.Subscribe() == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(client.holder() == "CUPTI for Foreign Tool");
  ReleaseSubscription();
  CHECK(client.Subscribe() == CUPTI_SUCCESS);
  CUpti_SubscriberHandle second = nullptr;
  CHECK(cuptiSubscribe(&second, nullptr, nullptr) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(client.Unsubscribe() == CUPTI_SUCCESS);
  CHECK(client.Unsubscribe() == CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("only the callbacks that were asked for come, and none after the end") {
  CuptiClient client;
  REQUIRE(client.Subscribe() == CUPTI_SUCCESS);
  client.EnableCallback(CUPTI_CB_DOMAIN_RUNTIME_API,
                        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  Stream& stream = CreateStream();
  Launch(stream, AnyKernel());
  StreamSynchronize(stream);
  CHECK(client.callbacks().size() == 2);
  REQUIRE(cuptiFinalize() == CUPTI_SUCCESS);
  Launch(stream, AnyKernel());
  CHECK(client.callbacks().size() == 2);
}

TEST_CASE("buffers are filled no further than they reach, and all come back at the end") {
  CuptiClient client({.buffer_bytes = 1000});
  cuptiActivityEnable(kKernels);
  Stream& first = CreateStream();
  Stream& second = CreateStream();
  for (int i = 0; i < 500; ++i) Launch(i % 2 == 0 ? first : second, AnyKernel());
  DeviceSynchronize();
  CHECK(client.Records<KernelRecord>(kKernels).size() == 500);
  CHECK(client.largest_valid_bytes() == 4 * sizeof(KernelRecord));
  Launch(first, AnyKernel());
  cuptiFinalize();
  CHECK(client.buffers_out() == 0);
}

TEST_CASE("a client's limit of records to a buffer is kept") {
  CuptiClient client({.max_records = 1});
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  for (int i = 0; i < 7; ++i) Launch(stream, AnyKernel());
  StreamSynchronize(stream);
  CHECK(client.Records<KernelRecord>(kKernels).size() == 7);
  CHECK(client.buffers_returned() == 7);
}

TEST_CASE("records without room are dropped and counted, once") {
  CuptiClient client({.buffer_bytes = 1000, .buffers = 1});
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  for (int i = 0; i < 10; ++i) Launch(stream, AnyKernel());
  StreamSynchronize(stream);
  CHECK(client.Records<KernelRecord>(kKernels).size() == 4);
  size_t dropped = 0;
  REQUIRE(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
  CHECK(dropped == 6);
  REQUIRE(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
  CHECK(dropped == 0);
}

TEST_CASE("a storm from many threads arrives whole, without a flush in between") {
  CuptiClient client;
  cuptiActivityEnable(kKernels);
  constexpr int kThreads = 16;
  constexpr int kLaunches = 5000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      Stream& stream = PerThreadStream();
      for (int j = 0; j < kLaunches; ++j) Launch(stream, AnyKernel(), {.duration_ns = 100});
      StreamSynchronize(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto records = client.Records<KernelRecord>(kKernels);
  CHECK(records.size() == size_t{kThreads} * kLaunches);
  CHECK(Correlations(records).size() == records.size());
  std::set<uint32_t> streams;
  for (const KernelRecord& record : records) streams.insert(record.streamId);
  CHECK(streams.size() == kThreads);
}

TEST_CASE("nodes of a graph share the launch's correlation and have their own ids") {
  CuptiClient client;
  cuptiActivityEnable(kKernels);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  Graph& graph = CreateGraph({{.kernel = &AnyKernel()},
                              {.type = GraphNode::Type::kMemcpy, .bytes = 4096},
                              {.kernel = &AnyKernel()}});
  Stream& stream = CreateStream();
  const Call first = GraphLaunch(graph, stream);
  const Call second = GraphLaunch(graph, stream);
  StreamSynchronize(stream);
  const auto kernels = client.Records<KernelRecord>(kKernels);
  const auto copies = client.Records<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  REQUIRE(kernels.size() == 4);
  REQUIRE(copies.size() == 2);
  CHECK(Correlations(kernels) == std::set<uint32_t>{first.correlation, second.correlation});
  std::set<uint64_t> nodes;
  for (const KernelRecord& record : kernels) nodes.insert(record.graphNodeId);
  nodes.insert(copies[0].graphNodeId);
  CHECK(nodes.size() == 3);
  CHECK(nodes.count(0) == 0);
}

TEST_CASE("copies say what they moved between which memories") {
  CuptiClient client;
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
  Stream& stream = CreateStream();
  Memcpy(stream, {.kind = CopyKind::kHostToDevice, .bytes = 100, .is_pinned = false});
  Memcpy(stream, {.kind = CopyKind::kDeviceToHost, .bytes = 200, .is_async = false});
  MemcpyPeer(stream, 1, 300);
  Memset(stream, {.value = 7, .bytes = 400});
  StreamSynchronize(stream);
  auto copies = client.Records<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  REQUIRE(copies.size() == 2);
  std::sort(copies.begin(), copies.end(),
            [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  CHECK(copies[0].copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  CHECK(copies[0].srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  CHECK(copies[0].flags == CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  CHECK(copies[1].copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  CHECK(copies[1].dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  CHECK(copies[1].flags == CUPTI_ACTIVITY_FLAG_NONE);
  const auto peers = client.Records<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  REQUIRE(peers.size() == 1);
  CHECK(peers[0].srcDeviceId == 0);
  CHECK(peers[0].dstDeviceId == 1);
  const auto sets = client.Records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].value == 7);
  CHECK(sets[0].bytes == 400);
}

TEST_CASE("waiting blocks until the work is done, and is recorded") {
  CuptiClient client;
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  cuptiActivityEnable(kKernels);
  Stream& stream = CreateStream();
  Stream& other = CreateStream();
  Event& event = CreateEvent();
  Launch(stream, AnyKernel(), {.duration_ns = 20'000'000});
  EventRecord(event, stream);
  CHECK(EventQuery(event).result == kErrorNotReady);
  StreamWaitEvent(other, event);
  const Call later = Launch(other, AnyKernel());
  EventSynchronize(event);
  CHECK(EventQuery(event).result == kSuccess);
  StreamSynchronize(other);
  const auto syncs =
      client.Records<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  REQUIRE(syncs.size() == 3);
  const auto events = client.Records<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  REQUIRE(events.size() == 1);
  for (const auto& sync : syncs) {
    if (sync.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE) continue;
    CHECK(sync.cudaEventSyncId == events[0].cudaEventSyncId);
    CHECK(sync.streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  }
  auto kernels = client.Records<KernelRecord>(kKernels);
  REQUIRE(kernels.size() == 2);
  if (kernels[0].correlationId == later.correlation) std::swap(kernels[0], kernels[1]);
  CHECK(kernels[1].start >= kernels[0].end);
}

TEST_CASE("allocations are recorded with their pool, and count as used") {
  CuptiClient client;
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2);
  Stream& stream = CreateStream();
  Pool& pool = CreatePool();
  const Allocation plain = Malloc(1000);
  const Allocation pooled = MallocAsync(stream, 2000, &pool);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  REQUIRE(cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS);
  CHECK(total_bytes - free_bytes == 3000);
  CHECK(FreeAsync(stream, pooled.address).result == kSuccess);
  CHECK(Free(plain.address).result == kSuccess);
  CHECK(Free(plain.address).result == kErrorInvalidValue);
  const auto records = client.Records<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  REQUIRE(records.size() == 4);
  for (const auto& record : records) {
    const bool is_pooled = record.bytes == 2000;
    CHECK(record.isAsync == (is_pooled ? 1U : 0U));
    CHECK((record.memoryPoolConfig.address != 0) == is_pooled);
    CHECK(record.address == (is_pooled ? pooled.address : plain.address));
  }
}

TEST_CASE("devices are dumped, and have fixed ids") {
  CuptiClient client;
  SetDevice(0);
  REQUIRE(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE) == CUPTI_SUCCESS);
  REQUIRE(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT) == CUPTI_SUCCESS);
  const auto devices = client.Records<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  REQUIRE(devices.size() == 2);
  for (const auto& device : devices) {
    CHECK(std::string(device.name) == "Simulated GPU (test)");
    CUuuid uuid{};
    REQUIRE(cuDeviceGetUuid_v2(&uuid, static_cast<CUdevice>(device.id)) == CUDA_SUCCESS);
    CHECK(std::memcmp(&uuid, &device.uuid, sizeof(uuid)) == 0);
  }
  CHECK_FALSE(client.Records<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT).empty());
}

TEST_CASE("kinds that exclude each other are refused, and so are those that are none") {
  CuptiClient client;
  REQUIRE(cuptiActivityEnable(kKernels) == CUPTI_SUCCESS);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL) == CUPTI_ERROR_NOT_COMPATIBLE);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID) == CUPTI_ERROR_INVALID_KIND);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT) == CUPTI_ERROR_INVALID_KIND);
}

TEST_CASE("API calls have records of their kind") {
  CuptiClient client;
  cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  const Call call = Launch(CreateStream(), AnyKernel());
  const auto records = client.Records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  REQUIRE(records.size() == 1);
  CHECK(records[0].cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  CHECK(records[0].correlationId == call.correlation);
  CHECK(records[0].threadId == static_cast<uint32_t>(syscall(SYS_gettid)));
}

TEST_CASE("faults: dropped and timeless records, old ones at a later session's head") {
  CuptiClient client;
  Stream& stream = CreateStream();
  cuptiActivityEnable(kKernels);
  {
    const WithFault drops("SIM_DROP_RECORDS", 3);
    const WithFault timeless("SIM_ZERO_TIMES", 2);
    for (int i = 0; i < 10; ++i) Launch(stream, AnyKernel());
    StreamSynchronize(stream);
    const auto records = client.Records<KernelRecord>(kKernels);
    CHECK(records.size() == 7);
    CHECK(std::count_if(records.begin(), records.end(),
                        [](const KernelRecord& record) { return record.end == 0; }) == 2);
    size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    CHECK(dropped == 3);
  }
  cuptiActivityDisable(kKernels);
  const WithFault stale("SIM_STALE_HEAD", 4);
  uint64_t on = 0;
  cuptiGetTimestamp(&on);
  cuptiActivityEnable(kKernels);
  const auto records = client.Records<KernelRecord>(kKernels);
  CHECK(std::count_if(records.begin() + 7, records.end(),
                      [on](const KernelRecord& record) { return record.start < on; }) == 4);
}

TEST_CASE("faults: another version has other layouts, and calls fail as told") {
  CuptiClient client;
  {
    const WithFault version("SIM_CUPTI_VERSION", 22, 130001);
    uint32_t reported = 0;
    cuptiGetVersion(&reported);
    CHECK(reported == 22);
    cuptiActivityEnable(kKernels);
    Stream& stream = CreateStream();
    for (int i = 0; i < 3; ++i) Launch(stream, AnyKernel());
    StreamSynchronize(stream);
    CHECK(client.Records<CUpti_ActivityKernel9>(kKernels).size() == 3);
    CHECK(client.largest_valid_bytes() == 3 * sizeof(CUpti_ActivityKernel9));
  }
  const WithFault subscribe("SIM_SUBSCRIBE_ERROR", CUPTI_ERROR_NOT_INITIALIZED);
  CHECK(client.Subscribe() == CUPTI_ERROR_NOT_INITIALIZED);
  const WithFault finalize("SIM_FINALIZE_ERROR", CUPTI_ERROR_UNKNOWN);
  CHECK(cuptiFinalize() == CUPTI_ERROR_UNKNOWN);
}

TEST_CASE("faults: CUPTI that breaks down says so and is gone") {
  CuptiClient client;
  REQUIRE(client.Subscribe() == CUPTI_SUCCESS);
  client.EnableCallback(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  cuptiActivityEnable(kKernels);
  BreakCupti();
  REQUIRE(client.callbacks().size() == 1);
  CHECK(client.callbacks()[0].domain == CUPTI_CB_DOMAIN_STATE);
  Launch(CreateStream(), AnyKernel());
  DeviceSynchronize();
  CHECK(client.Records<KernelRecord>(kKernels).empty());
  CHECK(client.Subscribe() == CUPTI_SUCCESS);
}

TEST_CASE("a fork's child cannot call CUDA, its parent can") {
  Stream& stream = CreateStream();
  const pid_t child = fork();
  if (child == 0) _exit(Launch(stream, AnyKernel()).result);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == kErrorNotInitialized);
  CHECK(Launch(stream, AnyKernel()).result == kSuccess);
}

}  // namespace
}  // namespace nanolane::sim
