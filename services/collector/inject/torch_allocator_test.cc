#include "services/collector/inject/torch_allocator.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"
#include "services/collector/inject/testing/stand_in_c10.h"

namespace nanolane::inject {
namespace {

constexpr int8_t kCuda = 1;
constexpr int8_t kCpu = 0;

// Each binding needs a process of its own: libraries of one name are loaded once. What the child
// finds wrong is what it returns, as a line.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    ResetThreadsAfterFork();
    _exit(body());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#define EXPECT(condition) \
  if (!(condition)) return __LINE__ % 255 + 1

struct Torch {
  bool Load(const std::string& binding) {
    // libc10 comes with it, as in PyTorch.
    void* const library =
        dlopen((STAND_INS "/" + binding + "/libc10_cuda.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const base = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr || base == nullptr) return false;
    change = reinterpret_cast<decltype(change)>(dlsym(library, "ChangeMemory"));
    last = reinterpret_cast<decltype(last)>(dlsym(base, "LastReport"));
    return change != nullptr && last != nullptr;
  }
  void (*change)(void*, int64_t, size_t, size_t, int8_t, int8_t) = nullptr;
  const Reported* (*last)() = nullptr;
};

void* Address(uint64_t number) { return reinterpret_cast<void*>(number); }

int FollowChanges(const std::string& binding, bool call_before) {
  EXPECT(!TorchIsLoaded());
  EXPECT(!InstallTorchHook());
  Torch torch;
  EXPECT(torch.Load(binding));
  EXPECT(TorchIsLoaded());
  // Lazily bound slots lead elsewhere before and after the first call.
  if (call_before) torch.change(Address(1), 1, 1, 1, kCuda, 0);
  const uint64_t before = torch.last()->calls;

  OpenCapture capture;
  EXPECT(InstallTorchHook());
  EXPECT(InstallTorchHook());
  torch.change(Address(0x7000), 512, 1'512, 4'096, kCuda, 3);
  EXPECT(torch.last()->calls == before + 1);
  EXPECT(torch.last()->address == Address(0x7000));
  EXPECT(torch.last()->bytes == 512);
  EXPECT(torch.last()->allocated == 1'512);
  EXPECT(torch.last()->reserved == 4'096);
  EXPECT(torch.last()->device.type == kCuda && torch.last()->device.index == 3);
  torch.change(Address(0x7000), -512, 1'000, 4'096, kCuda, 3);
  torch.change(Address(0x8000), 64, 64, 64, kCpu, 0);
  EXPECT(torch.last()->calls == before + 3);

  RemoveTorchHook();
  RemoveTorchHook();
  torch.change(Address(0x9000), 64, 64, 64, kCuda, 0);
  EXPECT(torch.last()->calls == before + 4);
  const auto seen =
      capture.Read().Of<wire::FrameworkMemoryRecord>(wire::RecordType::kFrameworkMemory);
  EXPECT(seen.size() == 2);
  EXPECT(seen[0]->bytes == 512 && seen[1]->bytes == -512);
  EXPECT(seen[0]->address == 0x7000);
  EXPECT(seen[0]->allocated_bytes == 1'512 && seen[1]->allocated_bytes == 1'000);
  EXPECT(seen[0]->reserved_bytes == 4'096);
  EXPECT(seen[0]->device == 3);
  EXPECT(seen[0]->time_ns >= capture.on_ns() && seen[1]->time_ns >= seen[0]->time_ns);

  // Again, in the same capture; and without one.
  EXPECT(InstallTorchHook());
  torch.change(Address(0x9000), -64, 0, 64, kCuda, 0);
  const auto more =
      capture.Read().Of<wire::FrameworkMemoryRecord>(wire::RecordType::kFrameworkMemory);
  EXPECT(more.size() == 3);
  capture.End();
  torch.change(Address(0x9000), 64, 64, 64, kCuda, 0);
  EXPECT(torch.last()->calls == before + 6);
  RemoveTorchHook();
  return 0;
}

int ChangeWhileThreadsAllocate() {
  Torch torch;
  EXPECT(torch.Load("lazy"));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> calls{0};
  std::thread allocating([&] {
    while (!stop.load()) {
      torch.change(Address(1), 1, 1, 1, kCuda, 0);
      calls.fetch_add(1);
    }
  });
  OpenCapture capture;
  for (int i = 0; i < 200; ++i) {
    EXPECT(InstallTorchHook());
    const uint64_t before = calls.load();
    // The first time the thread may be within the linker, which then writes over it.
    while (calls.load() < before + 3) std::this_thread::yield();
    RemoveTorchHook();
  }
  stop.store(true);
  allocating.join();
  capture.Read();
  EXPECT(torch.last()->calls == calls.load());
  EXPECT(capture.contents().records.size() >= 199);
  EXPECT(capture.contents().records.size() <= calls.load());
  return 0;
}

int WithoutTheKind() {
  Torch torch;
  EXPECT(torch.Load("lazy"));
  OpenCapture capture({.kinds = wire::kKindKernel});
  EXPECT(InstallTorchHook());
  torch.change(Address(1), 1, 1, 1, kCuda, 0);
  EXPECT(torch.last()->calls == 1);
  EXPECT(capture.Read().records.empty());
  return 0;
}

}  // namespace

TEST_CASE("the caching allocator is followed where its call is bound lazily") {
  CHECK(InChild([] { return FollowChanges("lazy", false); }) == 0);
}

TEST_CASE("the caching allocator is followed where its call has been bound before") {
  CHECK(InChild([] { return FollowChanges("lazy", true); }) == 0);
}

TEST_CASE("the caching allocator is followed where its call is bound at once") {
  CHECK(InChild([] { return FollowChanges("now", false); }) == 0);
}

TEST_CASE("the hook comes and goes under threads that allocate") {
  CHECK(InChild(ChangeWhileThreadsAllocate) == 0);
}

TEST_CASE("a capture of other kinds does not see the allocator") {
  CHECK(InChild(WithoutTheKind) == 0);
}

}  // namespace nanolane::inject
