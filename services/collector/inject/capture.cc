#include "services/collector/inject/capture.h"

#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/cuda_driver.h"
#include "services/collector/inject/held_frees.h"
#include "services/collector/inject/launch_calls.h"
#include "services/collector/inject/log.h"
#include "services/collector/inject/name_facts.h"
#include "services/collector/inject/nvtx_tables.h"
#include "services/collector/inject/other_tools.h"
#include "services/collector/inject/process_end.h"
#include "services/collector/inject/torch_allocator.h"

namespace nanolane::inject {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// CUPTI versions from which "no buffer" is an answer (CUDA 12.9).
constexpr uint32_t kNullBufferIsSafe = 28;
// Until a thread that is within a hook has left it: it does not block there.
constexpr int64_t kPatienceNs = kSecondNs;
constexpr int64_t kPatienceAtExitNs = kSecondNs / 5;
constexpr int64_t kDrainAtExitNs = kSecondNs;
// A call that has been under way for less returns soon.
constexpr int64_t kShortCallNs = 1'000'000;
// How long decoding waits for room at the end before records are dropped, counted.
constexpr int64_t kRoomPatienceNs = 2 * kSecondNs;

std::atomic<bool> g_failed{false};

void CUPTIAPI OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = TakeBuffer();
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;
}

void CUPTIAPI OnBufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  CompleteBuffer(buffer, valid_bytes);
}

void CUPTIAPI OnCallback(void* unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
  if (domain == CUPTI_CB_DOMAIN_STATE) {
    if (id == CUPTI_CBID_STATE_FATAL_ERROR) g_failed.store(true, std::memory_order_relaxed);
    return;
  }
  OnApiCall(unused, domain, id, data);
}

void Pause(int64_t ns) {
  const timespec pause = {.tv_sec = ns / kSecondNs, .tv_nsec = ns % kSecondNs};
  nanosleep(&pause, nullptr);
}

struct ActivityOfKind {
  uint32_t kind;
  CUpti_ActivityKind activity;
};
// Kernels last: by then their launches and everything else is on.
constexpr ActivityOfKind kActivities[] = {
    {wire::kKindMemory, CUPTI_ACTIVITY_KIND_MEMORY2},
    {wire::kKindMemset, CUPTI_ACTIVITY_KIND_MEMSET},
    {wire::kKindMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY},
    {wire::kKindMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY2},
    {wire::kKindKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
};

// A level with a time at which it held. A change that is in progress has taken its memory and bears
// a later time, or the other way around: so the level has to be the same a while before and after,
// and at the time itself. Where the process allocates without a pause, the last try has to do.
bool ReadMemoryLevel(int32_t device, wire::MemoryLevelFact* level) {
  constexpr int kTries = 32;
  constexpr int64_t kWhileNs = 10'000;
  const auto read = [&](uint64_t* used) { return DeviceMemory(device, used, &level->total_bytes); };
  for (int i = 0; i < kTries; ++i) {
    uint64_t before = 0;
    uint64_t after = 0;
    if (!read(&before)) return false;
    Pause(kWhileNs);
    level->time_ns = MonotonicNs();
    if (!read(&level->used_bytes)) return false;
    Pause(kWhileNs);
    if (!read(&after)) return false;
    if (before == level->used_bytes && after == level->used_bytes) return true;
  }
  return true;
}

const char* TextOf(const CuptiLibrary& cupti, CUptiResult result) {
  const char* text = nullptr;
  cupti.get_result_string(result, &text);
  return text != nullptr ? text : "unknown error";
}

}  // namespace

bool Capture::HasFailed() const { return g_failed.load(std::memory_order_relaxed); }

bool Capture::Start(Ring* ring, const wire::Start& start, Refusal* refusal) {
  const int64_t begin = MonotonicNs();
  ring_is_free_ = true;
  if (AnyUse()) {
    refusal->code = wire::RefusalCode::kBusy;
    snprintf(refusal->text, sizeof(refusal->text),
             "a thread of the process is still within a hook of the capture before; try again");
    return false;
  }
  // Attached still, it would record some streams and not others.
  if (!Detach(kCalmPatienceAtStartNs)) {
    refusal->code = wire::RefusalCode::kBusy;
    snprintf(refusal->text, sizeof(refusal->text),
             "the process waits for its GPU since the capture before; try again once it goes on");
    return false;
  }
  CuptiProblem problem = CuptiProblem::kNone;
  cupti_ = LoadCupti(&problem, refusal->text, sizeof(refusal->text));
  if (cupti_ != nullptr && !exit_noted_) {
    // CUPTI's own handlers of the process's end were registered when it was loaded: ours comes
    // first.
    atexit(at_exit_);
    exit_noted_ = true;
  }
  if (cupti_ == nullptr) {
    refusal->code = problem == CuptiProblem::kUnknownVersion ? wire::RefusalCode::kUnknownCupti
                                                             : wire::RefusalCode::kNoCupti;
    return false;
  }
  if (!table_filled_) {
    table_.Fill(*cupti_);
    table_filled_ = true;
  }
  if (!ResetNames()) {
    refusal->code = wire::RefusalCode::kCuptiError;
    snprintf(refusal->text, sizeof(refusal->text), "out of memory");
    return false;
  }
  ring_ = ring;
  ring->SetPrivileged(CurrentThread());
  kinds_asked_ = start.kinds & wire::kAllKinds;
  kinds_on_ = 0;
  waits_for_room_ = false;
  dropped_ = 0;
  g_failed.store(false, std::memory_order_relaxed);
  PrepareLaunchCalls(*cupti_, table_);
  ForgetProcessRanges();
  TakeRefusedUses();
  PrepareBuffers(cupti_->version >= kNullBufferIsSafe);
  // Of the capture before.
  TakeThrownAway();

  WatchOtherTools(yield_);
  if (!Attach(refusal)) {
    ring_is_free_ = RetractCapture(kPatienceNs);
    if (is_attached_) {
      DisableKinds();
      Detach(kCalmPatienceNs);
    } else {
      ForgetOtherTools();
      FreeBuffers();
    }
    return false;
  }
  LookForTorch();
  WriteMemoryLevels();
  on_ns_ = MonotonicNs() + kNoticeNs;
  ends_ns_ = on_ns_ + start.duration_ns;
  BeginCapture(on_ns_, ends_ns_);
  decoder_.SetBegin(on_ns_);
  next_slow_ns_ = on_ns_ + kSecondNs;
  NoteWhatIsMissing();
  wire::RingHeader& header = ring->header();
  header.cupti_version.store(cupti_->version, std::memory_order_relaxed);
  header.kinds_on.store(kinds_on_, std::memory_order_relaxed);
  header.on_ns.store(on_ns_, std::memory_order_relaxed);
  header.state.store(static_cast<uint32_t>(wire::RingState::kRecording), std::memory_order_release);
  Log("recording kinds %x after %lld us", kinds_on_,
      static_cast<long long>((on_ns_ - begin) / 1000));
  return true;
}

bool Capture::Attach(Refusal* refusal) {
  if (!Subscribe(refusal)) return false;
  is_attached_ = true;
  if (!clock_.Start(*cupti_)) {
    refusal->code = wire::RefusalCode::kCuptiError;
    snprintf(refusal->text, sizeof(refusal->text), "CUPTI gives no usable timestamps");
    return false;
  }
  decoder_.Start(*cupti_, clock_);
  WriteDeviceFacts();
  WriteClockFact();
  PublishCapture(ring_, kinds_asked_);
  return EnableKinds(refusal);
}

bool Capture::Subscribe(Refusal* refusal) {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN * 2] = {};
  CUptiResult result = CUPTI_SUCCESS;
  if (cupti_->subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "Nanolane";
    params.oldSubscriberName = holder;
    params.oldSubscriberSize = sizeof(holder);
    result = cupti_->subscribe_v2(&subscriber_, OnCallback, nullptr, &params);
  } else {
    result = cupti_->subscribe(&subscriber_, OnCallback, nullptr);
  }
  if (result == CUPTI_SUCCESS) {
    cupti_->enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
    return true;
  }
  subscriber_ = nullptr;
  holder[sizeof(holder) - 1] = 0;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    refusal->code = wire::RefusalCode::kOtherTool;
    const bool kineto = TorchIsLoaded();
    snprintf(refusal->text, sizeof(refusal->text), "another tool holds CUPTI in this process: %s%s",
             holder[0] != 0 ? holder : "unnamed",
             kineto
                 ? " (torch.profiler keeps it once it has been used: set TEARDOWN_CUPTI=1 in the "
                   "process's environment so that it lets go)"
                 : "");
    return false;
  }
  refusal->code = wire::RefusalCode::kCuptiError;
  snprintf(refusal->text, sizeof(refusal->text), "cuptiSubscribe failed: %s",
           TextOf(*cupti_, result));
  return false;
}

bool Capture::EnableKinds(Refusal* refusal) {
  SetBuffersZeroed(true);
  CUptiResult result = cupti_->register_callbacks(OnBufferRequested, OnBufferCompleted);
  if (result == CUPTI_SUCCESS) {
    result = table_.Enable(*cupti_, subscriber_, kinds_asked_);
    kinds_on_ |= kinds_asked_ & (wire::kKindLaunch | wire::kKindSync);
  }
  if (result == CUPTI_SUCCESS) {
    if (cupti_->enable_and_dump != nullptr) {
      cupti_->enable_and_dump(CUPTI_ACTIVITY_KIND_CONTEXT);
    } else {
      cupti_->enable(CUPTI_ACTIVITY_KIND_CONTEXT);
    }
  }
  for (const ActivityOfKind& wanted : kActivities) {
    if (result != CUPTI_SUCCESS) break;
    if ((kinds_asked_ & wanted.kind) == 0) continue;
    result = cupti_->enable(wanted.activity);
    if (result == CUPTI_SUCCESS) kinds_on_ |= wanted.kind;
  }
  if (result == CUPTI_SUCCESS) return true;
  refusal->code = wire::RefusalCode::kCuptiError;
  snprintf(refusal->text, sizeof(refusal->text), "CUPTI cannot be turned on: %s",
           TextOf(*cupti_, result));
  return false;
}

// That CUPTI takes our buffers as they are, and may not take another tool's so.
void Capture::SetBuffersZeroed(bool are_zeroed) {
  if (cupti_->set_attribute == nullptr) return;
  uint8_t zeroed = are_zeroed ? 1 : 0;
  size_t size = sizeof(zeroed);
  cupti_->set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
}

// Of records; the callbacks stay on until CUPTI is detached.
void Capture::DisableKinds() {
  for (const ActivityOfKind& wanted : kActivities) {
    if ((kinds_asked_ & wanted.kind) != 0) cupti_->disable(wanted.activity);
  }
  cupti_->disable(CUPTI_ACTIVITY_KIND_CONTEXT);
}

void Capture::WriteDeviceFacts() {
  wire::Gpu gpus[wire::kMaxGpus];
  const uint32_t count = ListGpus(gpus, wire::kMaxGpus);
  for (uint32_t i = 0; i < count; ++i) {
    wire::DeviceFact device{};
    device.header.type = static_cast<uint16_t>(wire::FactType::kDevice);
    device.header.id = static_cast<uint32_t>(gpus[i].index);
    memcpy(device.uuid, gpus[i].uuid, sizeof(device.uuid));
    device.memory_bytes = gpus[i].memory_bytes;
    memcpy(device.name, gpus[i].name, sizeof(device.name));
    ring_->AppendFact(&device, sizeof(device));
  }
}

// Once changes are recorded: what changed before is in the level, what changes after is added to
// it.
void Capture::WriteMemoryLevels() {
  if ((kinds_on_ & wire::kKindMemory) == 0) return;
  wire::Gpu gpus[wire::kMaxGpus];
  const uint32_t count = ListGpus(gpus, wire::kMaxGpus);
  for (uint32_t i = 0; i < count; ++i) {
    wire::MemoryLevelFact level{};
    level.header.type = static_cast<uint16_t>(wire::FactType::kMemoryLevel);
    level.header.id = static_cast<uint32_t>(gpus[i].index);
    if (ReadMemoryLevel(gpus[i].index, &level)) ring_->AppendFact(&level, sizeof(level));
  }
}

void Capture::WriteClockFact() {
  wire::ClockFact clock{};
  clock.header.type = static_cast<uint16_t>(wire::FactType::kClock);
  const int64_t before = MonotonicNs();
  clock.realtime_ns = RealtimeNs();
  clock.monotonic_ns = before + (MonotonicNs() - before) / 2;
  ring_->AppendFact(&clock, sizeof(clock));
}

void Capture::WriteNote(const char* text) {
  wire::FactHeader note{};
  note.type = static_cast<uint16_t>(wire::FactType::kNote);
  note.text_bytes = static_cast<uint32_t>(strlen(text));
  ring_->AppendFact(&note, sizeof(note), text, note.text_bytes);
}

void Capture::NoteWhatIsMissing() {
  if (const char* fault = KnownFaultOf(cupti_->version)) WriteNote(fault);
  if ((kinds_asked_ & wire::kKindNvtx) != 0) {
    if (NvtxIsInjected()) {
      kinds_on_ |= wire::kKindNvtx;
    } else {
      WriteNote(
          "no NVTX ranges: the process has called no NVTX function yet, or was started without "
          "NVTX_INJECTION64_PATH (nanolane run sets it)");
    }
  }
  if ((kinds_asked_ & wire::kKindFrameworkMemory) != 0 &&
      (kinds_on_ & wire::kKindFrameworkMemory) == 0) {
    WriteNote(TorchIsLoaded()
                  ? "no framework memory: this PyTorch's allocator does not report its changes in "
                    "the way that is known"
                  : "no framework memory: PyTorch is not loaded, and no other framework's "
                    "allocator is known");
  }
  if (clock_.is_unknown_clock()) {
    WriteNote(
        "another tool has given CUPTI a clock of its own in this process: times are converted from "
        "it by measurement");
  }
}

void Capture::LookForTorch() {
  if ((kinds_asked_ & wire::kKindFrameworkMemory) == 0) return;
  if (InstallTorchHook()) kinds_on_ |= wire::kKindFrameworkMemory;
}

void Capture::Tick(bool flush) {
  if (flush) cupti_->flush_all(0);
  {
    const CaptureUse use;
    if (use) waits_for_room_ = !decoder_.DecodeCompleted(use, false, ends_ns_);
  }
  CountDropped(true);
  const int64_t now = MonotonicNs();
  if (now < next_slow_ns_) return;
  WatchOtherTools(yield_);
  next_slow_ns_ = now + kSecondNs;
  clock_.Sample();
  WriteClockFact();
  LookForTorch();
  if (NvtxIsInjected()) kinds_on_ |= kinds_asked_ & wire::kKindNvtx;
  ring_->header().kinds_on.store(kinds_on_, std::memory_order_relaxed);
}

void Capture::CountDropped(bool ask_cupti) {
  size_t dropped = 0;
  if (ask_cupti && cupti_->get_dropped(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    ring_->CountLoss(wire::LossReason::kCuptiDropped, kSlotKernel, dropped);
    dropped_ += dropped;
  }
  const uint64_t thrown_away = TakeThrownAway();
  ring_->CountLoss(wire::LossReason::kBuffersFull, kSlotKernel, thrown_away);
  dropped_ += thrown_away;
  ring_->CountLoss(wire::LossReason::kNoThreadState, kSlotLaunch, TakeRefusedUses());
}

// Kernels whose launches were counted are waited for; copies and graphs, of which is not known how
// many there are, until nothing has come for a while.
void Capture::Drain(int64_t drain_ns) {
  constexpr int64_t kStepNs = 5'000'000;
  constexpr int64_t kQuietNs = 40'000'000;
  const int64_t begin = MonotonicNs();
  const int64_t deadline = begin + drain_ns;
  int64_t quiet_since = begin;
  const bool counts = (kinds_on_ & wire::kKindKernel) != 0;
  for (;;) {
    ParkIfHandsOff();
    cupti_->flush_all(0);
    const uint64_t before = decoder_.records();
    {
      const CaptureUse use;
      if (use) waits_for_room_ = !decoder_.DecodeCompleted(use, false);
    }
    // What CUPTI says it has dropped does not come.
    CountDropped(true);
    const int64_t now = MonotonicNs();
    if (decoder_.records() != before) quiet_since = now;
    const bool all_here =
        !counts || decoder_.kernels() + dropped_ >= KernelLaunches(ring_->number());
    if (all_here && !waits_for_room_ && now - quiet_since >= kQuietNs) return;
    if (now >= deadline || HasFailed()) return;
    if (ProcessEnds() && now >= begin + kDrainAtExitNs) return;
    Pause(kStepNs);
  }
}

void Capture::Stop(wire::StopReason reason, int64_t drain_ns) {
  const int64_t now = MonotonicNs();
  const int64_t off = now + kNoticeNs < ends_ns_ ? now + kNoticeNs : ends_ns_;
  const bool in_hurry = ProcessEnds();
  const int64_t patience_ns = in_hurry ? kPatienceAtExitNs : kPatienceNs;
  if (!CloseCapture(off, patience_ns)) Log("a thread stays in a hook");
  RemoveTorchHook();
  decoder_.SetEnd(off, LastCorrelation());
  {
    const CaptureUse use;
    if (use) WriteOpenRanges(use, off);
    if (use) WriteOpenWaits(use, off);
  }
  if (!HasFailed()) {
    Drain(in_hurry && drain_ns > kDrainAtExitNs ? kDrainAtExitNs : drain_ns);
    ParkIfHandsOff();
    DisableKinds();
    cupti_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  DecodeTheRest(ProcessEnds() ? kPatienceAtExitNs : kRoomPatienceNs);
  WriteClockFact();
  ring_is_free_ = RetractCapture(patience_ns);
  FreeBuffers();
  CountDropped(false);
  ring_->CloseAllPages();
  wire::RingHeader& header = ring_->header();
  header.kinds_on.store(kinds_on_, std::memory_order_relaxed);
  header.off_ns.store(off, std::memory_order_relaxed);
  header.stop_reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  header.state.store(static_cast<uint32_t>(wire::RingState::kStopped), std::memory_order_release);
  Log("stopped after %lld ms", static_cast<long long>((MonotonicNs() - now) / 1'000'000));
}

void Capture::DecodeTheRest(int64_t patience_ns) {
  const int64_t deadline = MonotonicNs() + patience_ns;
  for (bool all = false; !all;) {
    const bool drop = MonotonicNs() >= deadline;
    {
      const CaptureUse use;
      all = !use || decoder_.DecodeCompleted(use, drop);
    }
    if (!all) Pause(2'000'000);
  }
  CountDropped(true);
}

bool Capture::WaitForShortCalls(int64_t patience_ns) {
  constexpr int64_t kStepNs = 200'000;
  const int64_t deadline = MonotonicNs() + patience_ns;
  for (;;) {
    const int64_t now = MonotonicNs();
    if (LongestCallUnderWay(now) < kShortCallNs) return true;
    if (now >= deadline) return false;
    Pause(kStepNs);
  }
}

bool Capture::Detach(int64_t patience_ns) {
  if (!is_attached_) return true;
  // What ends with the process needs no detaching, and CUPTI's handlers of its end run meanwhile.
  if (ProcessEnds()) return true;
  if (!HasFailed()) {
    if (!WaitForShortCalls(patience_ns)) return false;
    ParkIfHandsOff();
    SetBuffersZeroed(false);
    const int64_t begin = MonotonicNs();
    const bool holds = BeginHoldingFrees(reinterpret_cast<const void*>(cupti_->finalize));
    const CUptiResult result = cupti_->finalize();
    const int64_t end = MonotonicNs();
    if (holds) EndHoldingFrees(end + kHoldFreesNs);
    Log("detached in %lld us%s%s", static_cast<long long>((end - begin) / 1000),
        holds ? "" : ", its memory freed at once",
        result == CUPTI_SUCCESS ? "" : ", with an error");
  }
  is_attached_ = false;
  subscriber_ = nullptr;
  ForgetOtherTools();
  ForgetCallsUnderWay();
  ForgetHeldBuffers();
  FreeBuffers();
  return true;
}

}  // namespace nanolane::inject
