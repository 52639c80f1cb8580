#include "tests/simulated_gpu/activity.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/simulated_gpu/callbacks.h"
#include "tests/simulated_gpu/delivery.h"
#include "tests/simulated_gpu/device.h"
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/records.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim::activity {

std::atomic<bool> kinds_on[kMaxKinds];

namespace {

// From this many pieces of work in one thread's list on, the delivering thread is woken.
constexpr size_t kWakeAt = 4096;
// From here on the launching thread delivers by itself, so that memory stays bounded.
constexpr size_t kDeliverAt = 65536;
constexpr int64_t kStaleByNs = 1'000'000'000;

// What one thread has recorded. Lists of ended threads are used again.
struct ThreadList {
  std::mutex mutex;
  std::vector<Work> work;
  size_t wake_at = kWakeAt;
  size_t deliver_at = kDeliverAt;
  bool is_taken = true;
};

struct State {
  std::mutex delivery_mutex;
  Delivery delivery;           // under delivery_mutex
  int64_t opened_session = 0;  // under delivery_mutex: whose head has been delivered

  std::mutex lists_mutex;
  std::vector<std::unique_ptr<ThreadList>> lists;

  std::mutex kinds_mutex;
  std::atomic<int64_t> sessions{0};
  bool has_enabled = false;  // under kinds_mutex
  // Kernels were turned off amid calls; turned on again before it is finalized, the real one gives
  // no more records of some streams.
  std::atomic<bool> is_torn{false};
  std::atomic<bool> is_deaf{false};
  std::atomic<bool> apis_on[2][kMaxCallbackIds]{};
  std::atomic<CUpti_ActivityThreadIdType> thread_id_type{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};

  std::mutex wake_mutex;
  std::condition_variable wake;
  bool is_woken = false;  // under wake_mutex
  std::once_flag thread_started;
};

// Outlives every thread that may still launch while the process exits.
State& GetState() {
  static auto* const state = new State;
  return *state;
}

ThreadList& TakeList() {
  State& state = GetState();
  const std::lock_guard<std::mutex> lock(state.lists_mutex);
  for (const auto& list : state.lists) {
    if (list->is_taken) continue;
    list->is_taken = true;
    return *list;
  }
  state.lists.push_back(std::make_unique<ThreadList>());
  return *state.lists.back();
}

// A list is the thread's until it ends; its thread may still record in later destructors.
struct ListOfThread {
  ThreadList* list = nullptr;
  ~ListOfThread() {
    if (list == nullptr) return;
    const std::lock_guard<std::mutex> lock(GetState().lists_mutex);
    list->is_taken = false;
    list = nullptr;
  }
};
thread_local ListOfThread list_of_thread;

ThreadList& MyList() {
  if (list_of_thread.list == nullptr) list_of_thread.list = &TakeList();
  return *list_of_thread.list;
}

std::vector<ThreadList*> AllLists() {
  State& state = GetState();
  const std::lock_guard<std::mutex> lock(state.lists_mutex);
  std::vector<ThreadList*> lists;
  for (const auto& list : state.lists) lists.push_back(list.get());
  return lists;
}

// What is complete leaves the list; with `all`, the rest too, without times.
std::vector<Work> TakeWork(ThreadList& list, bool all) {
  const std::lock_guard<std::mutex> lock(list.mutex);
  const int64_t now = MonotonicNow();
  const auto rest = std::stable_partition(list.work.begin(), list.work.end(),
                                          [now](const Work& work) { return work.end_ns <= now; });
  if (all) {
    for (auto work = rest; work != list.work.end(); ++work) work->start_ns = work->end_ns = 0;
  }
  const auto taken_end = all ? list.work.end() : rest;
  std::vector<Work> taken(list.work.begin(), taken_end);
  list.work.erase(list.work.begin(), taken_end);
  list.wake_at = list.work.size() + kWakeAt;
  list.deliver_at = list.work.size() + kDeliverAt;
  return taken;
}

std::vector<Work> StaleKernels() {
  static const Kernel& kernel = KernelNamed("_Z17kernel_of_the_pastv");
  std::vector<Work> stale(static_cast<size_t>(std::max<int64_t>(0, GetFaults().stale_head)));
  for (size_t i = 0; i < stale.size(); ++i) {
    Work& work = stale[i];
    work.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    work.correlation = static_cast<uint32_t>(i) + 1;
    work.start_ns = MonotonicNow() - kStaleByNs;
    work.end_ns = work.start_ns + 1000;
    work.context = 1;
    work.stream = kDefaultStreamId;
    work.kernel = {kernel.name.c_str(), {}, {}, 0};
  }
  return stale;
}

// Under delivery_mutex.
void DeliverCompleted(State& state, bool all) {
  const int64_t session = state.sessions.load();
  if (state.opened_session != session) {
    state.opened_session = session;
    std::vector<Work> stale = StaleKernels();
    if (session > 1) state.delivery.Write(stale);
  }
  for (ThreadList* list : AllLists()) {
    std::vector<Work> work = TakeWork(*list, all);
    state.delivery.Write(work);
  }
}

void DeliveringThread(State& state) {
  while (true) {
    {
      std::unique_lock<std::mutex> lock(state.wake_mutex);
      state.wake.wait(lock, [&] { return state.is_woken; });
      state.is_woken = false;
    }
    const std::lock_guard<std::mutex> lock(state.delivery_mutex);
    DeliverCompleted(state, false);
  }
}

void WakeDeliveringThread(State& state) {
  {
    const std::lock_guard<std::mutex> lock(state.wake_mutex);
    state.is_woken = true;
  }
  state.wake.notify_one();
}

bool IsAnyOn() {
  return std::any_of(std::begin(kinds_on), std::end(kinds_on),
                     [](const std::atomic<bool>& on) { return on.load(); });
}

void DumpStreams(Context& context) {
  for (const Stream* stream : context.Streams()) {
    Work work;
    work.kind = CUPTI_ACTIVITY_KIND_STREAM;
    work.context = context.id;
    work.device = context.device;
    work.stream = stream->id;
    Record(work);
  }
}

// Records of the objects that are there already.
void Dump(CUpti_ActivityKind kind) {
  for (int i = 0; i < DeviceCount(); ++i) {
    Context& context = ContextOf(i);
    if (kind == CUPTI_ACTIVITY_KIND_STREAM && context.is_active) DumpStreams(context);
    const bool is_there = kind == CUPTI_ACTIVITY_KIND_DEVICE ||
                          (kind == CUPTI_ACTIVITY_KIND_CONTEXT && context.is_active);
    if (!is_there) continue;
    Work work;
    work.kind = kind;
    work.device = context.device;
    work.context = context.id;
    Record(work);
  }
}

bool IsKnown(CUpti_ActivityKind kind) {
  return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT &&
         static_cast<size_t>(kind) < kMaxKinds;
}

bool Excludes(CUpti_ActivityKind kind) {
  return (kind == CUPTI_ACTIVITY_KIND_KERNEL && IsOn(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ||
         (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && IsOn(CUPTI_ACTIVITY_KIND_KERNEL));
}

size_t ApiIndex(CUpti_ActivityKind kind) { return kind == CUPTI_ACTIVITY_KIND_RUNTIME ? 0 : 1; }

void StallFirstEnable(State& state) {
  if (state.has_enabled) return;
  state.has_enabled = true;
  WaitUntil(MonotonicNow() + GetFaults().first_enable_ms.load() * 1'000'000);
}

}  // namespace

bool IsApiOn(CUpti_ActivityKind kind, uint32_t cbid) {
  return IsOn(kind) || GetState().apis_on[ApiIndex(kind)][cbid].load(std::memory_order_relaxed);
}

void Record(const Work& work) {
  if (GetState().is_deaf.load(std::memory_order_relaxed) && work.stream % 2 != 0) return;
  ThreadList& list = MyList();
  bool wakes = false;
  bool delivers = false;
  {
    const std::lock_guard<std::mutex> lock(list.mutex);
    list.work.push_back(work);
    wakes = list.work.size() == list.wake_at;
    delivers = list.work.size() >= list.deliver_at;
  }
  if (wakes) WakeDeliveringThread(GetState());
  if (!delivers) return;
  State& state = GetState();
  const std::lock_guard<std::mutex> lock(state.delivery_mutex);
  DeliverCompleted(state, false);
}

int64_t Sessions() { return GetState().sessions.load(); }

CUptiResult RegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                              CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  State& state = GetState();
  const std::lock_guard<std::mutex> lock(state.delivery_mutex);
  state.delivery.SetCallbacks(requested, completed);
  return CUPTI_SUCCESS;
}

CUptiResult Enable(CUpti_ActivityKind kind, bool dump) {
  if (!IsKnown(kind)) return CUPTI_ERROR_INVALID_KIND;
  if (Excludes(kind)) return CUPTI_ERROR_NOT_COMPATIBLE;
  const int64_t error = GetFaults().enable_error.load();
  if (error != 0) return static_cast<CUptiResult>(error);
  State& state = GetState();
  std::call_once(state.thread_started,
                 [&state] { std::thread(DeliveringThread, std::ref(state)).detach(); });
  {
    const std::lock_guard<std::mutex> lock(state.kinds_mutex);
    StallFirstEnable(state);
    if (!IsAnyOn()) {
      AlignClientClock();
      ++state.sessions;
    }
    kinds_on[kind].store(true);
    if (state.is_torn.load()) state.is_deaf.store(true);
  }
  if (dump) Dump(kind);
  return CUPTI_SUCCESS;
}

CUptiResult Disable(CUpti_ActivityKind kind) {
  if (!IsKnown(kind)) return CUPTI_ERROR_INVALID_KIND;
  const std::lock_guard<std::mutex> lock(GetState().kinds_mutex);
  kinds_on[kind].store(false);
  if (callbacks::AreCallsUnderWay()) GetState().is_torn.store(true);
  return CUPTI_SUCCESS;
}

CUptiResult EnableApi(CUpti_ActivityKind kind, uint32_t cbid, bool on) {
  if (cbid == 0 || cbid >= kMaxCallbackIds) return CUPTI_ERROR_INVALID_PARAMETER;
  GetState().apis_on[ApiIndex(kind)][cbid].store(on);
  return CUPTI_SUCCESS;
}

CUptiResult FlushAll(bool forced) {
  State& state = GetState();
  const std::lock_guard<std::mutex> lock(state.delivery_mutex);
  DeliverCompleted(state, forced);
  state.delivery.HandBack(forced);
  return CUPTI_SUCCESS;
}

CUptiResult NextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const int64_t version = GetFaults().cupti_version.load();
  uint8_t* next = buffer;
  if (*record != nullptr) {
    const size_t bytes = RecordBytes((*record)->kind, version);
    if (bytes == 0) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<uint8_t*>(*record) + bytes;
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* activity = reinterpret_cast<CUpti_Activity*>(next);
  if (RecordBytes(activity->kind, version) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = activity;
  return CUPTI_SUCCESS;
}

uint64_t TakeDropped() { return GetState().delivery.TakeDropped(); }

void SetThreadIdType(CUpti_ActivityThreadIdType type) { GetState().thread_id_type = type; }

uint32_t ThreadId() {
  if (GetState().thread_id_type.load() == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) {
    thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
    return id;
  }
  return static_cast<uint32_t>(pthread_self());
}

void Finalize() {
  State& state = GetState();
  {
    const std::lock_guard<std::mutex> lock(state.kinds_mutex);
    for (std::atomic<bool>& on : kinds_on) on.store(false);
    for (auto& apis : state.apis_on) {
      for (std::atomic<bool>& on : apis) on.store(false);
    }
    state.is_torn.store(false);
    state.is_deaf.store(false);
  }
  const std::lock_guard<std::mutex> lock(state.delivery_mutex);
  state.delivery.HandBack(true);
  state.delivery.Reset();
  for (ThreadList* list : AllLists()) {
    const std::lock_guard<std::mutex> list_lock(list->mutex);
    list->work.clear();
  }
}

}  // namespace nanolane::sim::activity
