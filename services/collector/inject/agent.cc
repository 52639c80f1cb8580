#include "services/collector/inject/agent.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include "services/collector/inject/capture.h"
#include "services/collector/inject/clock.h"
#include "services/collector/inject/control_channel.h"
#include "services/collector/inject/cuda_driver.h"
#include "services/collector/inject/environment.h"
#include "services/collector/inject/held_frees.h"
#include "services/collector/inject/log.h"
#include "services/collector/inject/nvtx_tables.h"
#include "services/collector/inject/process_end.h"
#include "services/collector/inject/thread_state.h"

namespace nanolane::inject {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;
constexpr uint32_t kLibraryVersion = 1;
constexpr int64_t kDrainNs = 5 * kSecond;
constexpr int64_t kDrainAtExitNs = 1 * kSecond;
// What the end of a process waits for at most when a capture is on.
constexpr int64_t kExitPatienceNs = 2'500 * kMs;
constexpr int64_t kDrainForOtherNs = 500 * kMs;
// How long another tool that begins to record is kept waiting.
constexpr int64_t kYieldPatienceNs = 3 * kSecond;
// How long a ring is kept for a collector that has gone, after its capture has ended.
constexpr int64_t kKeepRingNs = 600 * kSecond;
constexpr int64_t kFirstRetryNs = 100 * kMs;
constexpr int64_t kLastRetryNs = 5 * kSecond;
constexpr int64_t kFirstGpuLookNs = 200 * kMs;
constexpr int kMostGpuLooks = 12;
constexpr uint32_t kMostRings = 4;
constexpr time_t kLookAtDescriptorsSeconds = 2;

// A ring that was handed over and not released yet.
struct HeldRing {
  bool taken = false;
  bool recording = false;
  wire::SessionKey session;
  OwnDescriptor descriptor;
  int64_t forget_ns = 0;  // once it does not record
};

// On the thread of another tool.
void YieldCupti();

class Agent {
 public:
  // The two ends of a pair of sockets.
  Agent(int woken, int waker) {
    woken_.Take(woken);
    waker_.Take(waker);
  }
  void Run();
  void Wake() {
    const int fd = waker_.get();
    const char one = 1;
    if (fd >= 0 && send(fd, &one, sizeof(one), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
  }

  // In a forked child: what it holds is the parent's, which must not look alive through it.
  void CloseDescriptors() {
    channel_.Close();
    woken_.Close();
    waker_.Close();
    for (HeldRing& held : rings_) held.descriptor.Close();
  }

  std::atomic<bool> yield_asked{false};
  std::atomic<bool> holds_cupti{false};
  std::atomic<bool> exit_asked{false};
  std::atomic<bool> ended{false};

 private:
  int64_t NextDeadline() const;
  void Wait();
  void Work();
  void Reconnect();
  void SayHello();
  void LookForGpus();
  void ReadMessages();
  void OnStart(const wire::Start& start, int descriptor);
  void OnStop(const wire::SessionKey& session);
  void OnRelease(const wire::SessionKey& session);
  void Refuse(const wire::SessionKey& session, const Refusal& refusal);
  void EndCapture(wire::StopReason reason, int64_t drain_ns);
  void Detach();
  HeldRing* Find(const wire::SessionKey& session);
  HeldRing* Recording();
  void ForgetOldRings(int64_t now);

  OwnDescriptor woken_;
  OwnDescriptor waker_;
  ControlChannel channel_;
  bool connected_ = false;
  int64_t retry_ns_ = 0;  // when to connect again
  int64_t retry_after_ns_ = kFirstRetryNs;
  int64_t gpu_look_ns_ = 0;  // 0: no more
  int gpu_looks_ = 0;
  HeldRing rings_[kMostRings];
  Capture capture_{YieldCupti, EndAgentBeforeExit};
  Ring* ring_ = nullptr;  // of the capture that records
  int64_t ends_ns_ = 0;
  int64_t tick_ns_ = 0;
  int64_t detach_ns_ = 0;  // when to try again, while CUPTI is attached without a capture
};

bool SameSession(const wire::SessionKey& a, const wire::SessionKey& b) {
  return memcmp(a, b, sizeof(wire::SessionKey)) == 0;
}

int64_t Earlier(int64_t a, int64_t b) { return b != 0 && b < a ? b : a; }

void Agent::Run() {
  // A state of its own before any thread of the application can have taken the last one.
  CurrentThread();
  Reconnect();
  gpu_look_ns_ = MonotonicNs() + kFirstGpuLookNs;
  while (!exit_asked.load(std::memory_order_acquire)) {
    Wait();
    Work();
  }
  if (ring_ != nullptr) EndCapture(wire::StopReason::kProcessExit, kDrainAtExitNs);
  ended.store(true, std::memory_order_release);
}

int64_t Agent::NextDeadline() const {
  int64_t next = INT64_MAX;
  if (!connected_) next = Earlier(next, retry_ns_);
  if (connected_) next = Earlier(next, gpu_look_ns_);
  if (ring_ != nullptr) {
    next = Earlier(next, ends_ns_);
    next = Earlier(next, tick_ns_);
  } else if (capture_.is_attached()) {
    next = Earlier(next, detach_ns_);
  }
  next = Earlier(next, NextFreeing());
  for (const HeldRing& held : rings_) {
    if (held.taken && !held.recording) next = Earlier(next, held.forget_ns);
  }
  return next;
}

void Agent::Wait() {
  const int64_t next = NextDeadline();
  pollfd descriptors[2] = {{.fd = woken_.get(), .events = POLLIN, .revents = 0},
                           {.fd = channel_.fd(), .events = POLLIN, .revents = 0}};
  timespec timeout{};
  if (next != INT64_MAX) {
    int64_t wait = next - MonotonicNs();
    if (wait < 0) wait = 0;
    timeout = {.tv_sec = wait / kSecond, .tv_nsec = wait % kSecond};
  }
  // A descriptor that the process has closed gives no news: it is found out every so often.
  if (next == INT64_MAX || timeout.tv_sec >= kLookAtDescriptorsSeconds) {
    timeout = {.tv_sec = kLookAtDescriptorsSeconds, .tv_nsec = 0};
  }
  ppoll(descriptors, 2, &timeout, nullptr);
}

void Agent::Work() {
  char woken[16];
  if (const int fd = woken_.get(); fd >= 0) {
    while (recv(fd, woken, sizeof(woken), MSG_DONTWAIT) > 0) {
    }
  }
  if (connected_) ReadMessages();
  const int64_t now = MonotonicNs();
  if (ring_ != nullptr) {
    if (yield_asked.load(std::memory_order_acquire)) {
      EndCapture(wire::StopReason::kOtherTool, kDrainForOtherNs);
    } else if (capture_.HasFailed()) {
      EndCapture(wire::StopReason::kCuptiFailed, kDrainAtExitNs);
    } else if (now >= ends_ns_) {
      EndCapture(wire::StopReason::kDeadline, kDrainNs);
    } else if (now >= tick_ns_) {
      // A full ring is looked at again soon, without asking CUPTI for more.
      capture_.Tick(!capture_.waits_for_room());
      tick_ns_ = MonotonicNs() + (capture_.waits_for_room() ? 2 * kMs : kTickNs);
    }
  } else if (capture_.is_attached()) {
    if (now >= detach_ns_ || yield_asked.load(std::memory_order_acquire)) Detach();
  }
  FreeHeld(now);
  if (!connected_ && now >= retry_ns_) Reconnect();
  if (connected_ && gpu_look_ns_ != 0 && now >= gpu_look_ns_) LookForGpus();
  ForgetOldRings(now);
}

void Agent::Reconnect() {
  connected_ = channel_.Connect();
  if (connected_) {
    retry_after_ns_ = kFirstRetryNs;
    SayHello();
    gpu_looks_ = 0;
    gpu_look_ns_ = MonotonicNs() + kFirstGpuLookNs;
    return;
  }
  retry_ns_ = MonotonicNs() + retry_after_ns_;
  retry_after_ns_ = retry_after_ns_ * 2 < kLastRetryNs ? retry_after_ns_ * 2 : kLastRetryNs;
}

// One message for each ring that is still held, or one without.
void Agent::SayHello() {
  bool said = false;
  for (uint32_t i = 0; i <= kMostRings && connected_; ++i) {
    const HeldRing* held = i < kMostRings ? &rings_[i] : nullptr;
    if (held != nullptr && !held->taken) continue;
    if (held == nullptr && said) break;
    wire::Hello hello{};
    hello.library_version = kLibraryVersion;
    hello.cupti_version = capture_.cupti_version();
    hello.has_nvtx = NvtxIsInjected() ? 1 : 0;
    if (const char* project = ValueOf(Variable::kProject)) {
      snprintf(hello.project, sizeof(hello.project), "%s", project);
    }
    wire::LibraryState state = wire::LibraryState::kDormant;
    int descriptor = -1;
    if (held != nullptr) {
      state = held->recording ? wire::LibraryState::kRecording : wire::LibraryState::kHoldingRing;
      memcpy(hello.session, held->session, sizeof(hello.session));
      descriptor = held->descriptor.get();
      if (descriptor < 0) continue;
    }
    hello.state = static_cast<uint8_t>(state);
    connected_ = channel_.Send(wire::MessageType::kHello, &hello, sizeof(hello), descriptor);
    said = true;
  }
  if (!connected_) retry_ns_ = MonotonicNs() + kFirstRetryNs;
}

// CUDA may not answer yet: the library is loaded from within its initialization.
void Agent::LookForGpus() {
  wire::Gpus gpus{};
  gpus.count = ListGpus(gpus.gpus, wire::kMaxGpus);
  if (gpus.count > 0) {
    gpu_look_ns_ = 0;
    Log("%u GPUs", gpus.count);
    connected_ = channel_.Send(wire::MessageType::kGpus, &gpus, sizeof(gpus));
    return;
  }
  ++gpu_looks_;
  gpu_look_ns_ =
      gpu_looks_ < kMostGpuLooks ? MonotonicNs() + (kFirstGpuLookNs << (gpu_looks_ / 2)) : 0;
}

void Agent::ReadMessages() {
  alignas(8) char message[wire::kMaxMessageBytes];
  for (;;) {
    size_t bytes = 0;
    int descriptor = -1;
    const auto received = channel_.Receive(message, sizeof(message), &bytes, &descriptor);
    if (received == ControlChannel::Received::kNothing) return;
    if (received == ControlChannel::Received::kBroken) {
      connected_ = false;
      retry_ns_ = MonotonicNs() + kFirstRetryNs;
      return;
    }
    const auto type =
        static_cast<wire::MessageType>(reinterpret_cast<const wire::MessageHeader*>(message)->type);
    if (type == wire::MessageType::kStart && bytes == sizeof(wire::Start)) {
      wire::Start start;
      memcpy(&start, message, sizeof(start));
      OnStart(start, descriptor);
      continue;
    }
    if (descriptor >= 0) close(descriptor);
    if (type == wire::MessageType::kStop && bytes == sizeof(wire::Stop)) {
      OnStop(reinterpret_cast<const wire::Stop*>(message)->session);
    } else if (type == wire::MessageType::kRelease && bytes == sizeof(wire::Release)) {
      OnRelease(reinterpret_cast<const wire::Release*>(message)->session);
    }
  }
}

void Agent::OnStart(const wire::Start& start, int descriptor) {
  Refusal refusal;
  HeldRing* free_slot = nullptr;
  for (HeldRing& held : rings_) {
    if (!held.taken) free_slot = &held;
  }
  const bool duration_fits = start.duration_ns > 0 && start.duration_ns <= wire::kLongestCaptureNs;
  if (ring_ != nullptr || free_slot == nullptr || !duration_fits) {
    refusal.code = wire::RefusalCode::kBusy;
    snprintf(refusal.text, sizeof(refusal.text), "%s",
             ring_ != nullptr       ? "another capture of this process is running"
             : free_slot == nullptr ? "captures of this process before have not been delivered yet"
                                    : "a capture lasts at most 10 minutes");
    Refuse(start.session, refusal);
    if (descriptor >= 0) close(descriptor);
    return;
  }
  const int64_t begin = MonotonicNs();
  const char* why = "no ring came with the command";
  Ring* ring = descriptor >= 0 ? Ring::Map(descriptor, &why) : nullptr;
  if (ring == nullptr) {
    refusal.code = wire::RefusalCode::kBadRing;
    snprintf(refusal.text, sizeof(refusal.text), "%s", why);
    Refuse(start.session, refusal);
    if (descriptor >= 0) close(descriptor);
    return;
  }
  yield_asked.store(false, std::memory_order_relaxed);
  holds_cupti.store(true, std::memory_order_release);
  const bool started_it = capture_.Start(ring, start, &refusal);
  // Refused, it may be attached still from before.
  holds_cupti.store(capture_.is_attached(), std::memory_order_release);
  if (!started_it) {
    Log("refused: %s", refusal.text);
    Refuse(start.session, refusal);
    if (capture_.ring_is_free()) Ring::Unmap(ring);
    close(descriptor);
    return;
  }
  free_slot->taken = true;
  free_slot->recording = true;
  memcpy(free_slot->session, start.session, sizeof(start.session));
  free_slot->descriptor.Take(descriptor);
  ring_ = ring;
  ends_ns_ = capture_.ends_ns();
  tick_ns_ = MonotonicNs() + kTickNs;
  wire::Started started{};
  memcpy(started.session, start.session, sizeof(start.session));
  started.on_ns = capture_.on_ns();
  started.cupti_version = capture_.cupti_version();
  started.kinds = capture_.kinds_on();
  started.setup_ns = capture_.on_ns() - begin;
  connected_ = channel_.Send(wire::MessageType::kStarted, &started, sizeof(started));
}

void Agent::OnStop(const wire::SessionKey& session) {
  const HeldRing* held = Find(session);
  if (held == nullptr || !held->recording) return;
  EndCapture(wire::StopReason::kAsked, kDrainNs);
}

void Agent::OnRelease(const wire::SessionKey& session) {
  HeldRing* held = Find(session);
  if (held == nullptr || held->recording) return;
  held->descriptor.Close();
  held->taken = false;
}

void Agent::Refuse(const wire::SessionKey& session, const Refusal& refusal) {
  wire::Refused refused{};
  memcpy(refused.session, session, sizeof(refused.session));
  refused.code = static_cast<uint32_t>(refusal.code);
  memcpy(refused.text, refusal.text, sizeof(refused.text));
  connected_ = channel_.Send(wire::MessageType::kRefused, &refused, sizeof(refused));
}

void Agent::EndCapture(wire::StopReason reason, int64_t drain_ns) {
  capture_.Stop(reason, drain_ns);
  if (capture_.ring_is_free()) Ring::Unmap(ring_);
  ring_ = nullptr;
  if (HeldRing* held = Recording()) {
    held->recording = false;
    held->forget_ns = MonotonicNs() + kKeepRingNs;
    wire::Stopped stopped{};
    memcpy(stopped.session, held->session, sizeof(stopped.session));
    if (connected_) {
      connected_ = channel_.Send(wire::MessageType::kStopped, &stopped, sizeof(stopped));
    }
  }
  Detach();
}

void Agent::Detach() {
  if (!capture_.Detach(kCalmPatienceNs)) detach_ns_ = MonotonicNs() + kTickNs;
  holds_cupti.store(capture_.is_attached(), std::memory_order_release);
}

HeldRing* Agent::Find(const wire::SessionKey& session) {
  for (HeldRing& held : rings_) {
    if (held.taken && SameSession(held.session, session)) return &held;
  }
  return nullptr;
}

HeldRing* Agent::Recording() {
  for (HeldRing& held : rings_) {
    if (held.taken && held.recording) return &held;
  }
  return nullptr;
}

void Agent::ForgetOldRings(int64_t now) {
  for (HeldRing& held : rings_) {
    if (!held.taken || held.recording || now < held.forget_ns) continue;
    held.descriptor.Close();
    held.taken = false;
  }
}

// Made in place and never destroyed: the thread may outlive every destructor of the process.
alignas(Agent) char g_agent_place[sizeof(Agent)];
std::atomic<Agent*> g_agent{nullptr};
std::atomic<bool> g_started{false};

void YieldCupti() {
  Agent* agent = g_agent.load(std::memory_order_acquire);
  if (agent == nullptr || !agent->holds_cupti.load(std::memory_order_acquire)) return;
  agent->yield_asked.store(true, std::memory_order_release);
  agent->Wake();
  const int64_t deadline = MonotonicNs() + kYieldPatienceNs;
  while (agent->holds_cupti.load(std::memory_order_acquire) && MonotonicNs() < deadline) {
    const timespec pause = {.tv_sec = 0, .tv_nsec = kMs / 2};
    nanosleep(&pause, nullptr);
  }
}

void* RunAgent(void* agent) {
  prctl(PR_SET_NAME, "nanolane", 0, 0, 0);
  static_cast<Agent*>(agent)->Run();
  return nullptr;
}

}  // namespace

void StartAgent() {
  if (g_started.exchange(true, std::memory_order_acq_rel)) return;
  // Not an eventfd: those share one inode, so that one of the process's could not be told from
  // ours.
  int wake[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, wake) != 0) {
    Log("no descriptors are left");
    return;
  }
  auto* agent = new (g_agent_place) Agent(wake[0], wake[1]);
  // Signals are the application's threads' business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, RunAgent, agent);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    Log("no thread can be started: %d", error);
    return;
  }
  g_agent.store(agent, std::memory_order_release);
}

void EndAgentBeforeExit() {
  Agent* agent = g_agent.load(std::memory_order_acquire);
  if (agent == nullptr) return;
  NoteProcessEnds();
  agent->exit_asked.store(true, std::memory_order_release);
  agent->Wake();
  const int64_t deadline = MonotonicNs() + kExitPatienceNs;
  while (!agent->ended.load(std::memory_order_acquire)) {
    if (MonotonicNs() >= deadline) {
      TakeHandsOff();
      return;
    }
    const timespec pause = {.tv_sec = 0, .tv_nsec = kMs / 2};
    nanosleep(&pause, nullptr);
  }
}

void ResetAgentAfterFork() {
  if (Agent* agent = g_agent.load(std::memory_order_acquire)) agent->CloseDescriptors();
  g_agent.store(nullptr, std::memory_order_release);
  g_started.store(false, std::memory_order_release);
}

}  // namespace nanolane::inject
