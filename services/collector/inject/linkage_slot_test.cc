#include "services/collector/inject/linkage_slot.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/stand_in_c10.h"

namespace nanolane::inject {
namespace {

constexpr const char* kCaller = "libc10_cuda.so";
constexpr const char* kSymbol = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

int g_redirected = 0;
void Replacement(void*, int64_t, size_t, size_t, uint16_t) { ++g_redirected; }

#define EXPECT(condition) \
  if (!(condition)) return __LINE__ % 255 + 1

int RedirectAndRestore(const std::string& binding, bool call_before) {
  void* const replacement = reinterpret_cast<void*>(&Replacement);
  LinkageSlot slot;
  EXPECT(!LibraryIsLoaded(kCaller));
  EXPECT(!slot.Install(kCaller, kSymbol, replacement));
  void* const library =
      dlopen((STAND_INS "/" + binding + "/libc10_cuda.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
  void* const base = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  EXPECT(library != nullptr && base != nullptr);
  EXPECT(LibraryIsLoaded(kCaller));
  EXPECT(!slot.Install(kCaller, "no_such_symbol", replacement));
  EXPECT(!slot.is_installed());

  using Change = void (*)(void*, int64_t, size_t, size_t, int8_t, int8_t);
  const auto change = reinterpret_cast<Change>(dlsym(library, "ChangeMemory"));
  const auto last = reinterpret_cast<const Reported* (*)()>(dlsym(base, "LastReport"));
  void* const real = dlsym(base, kSymbol);
  EXPECT(change != nullptr && last != nullptr && real != nullptr);
  uint64_t calls = 0;
  if (call_before) {
    change(nullptr, 1, 1, 1, 0, 0);
    EXPECT(last()->calls == ++calls);
  }
  slot.Remove(nullptr);  // not installed: nothing
  int redirected = 0;
  for (int round = 0; round < 3; ++round) {
    EXPECT(slot.Install(kCaller, kSymbol, replacement));
    EXPECT(slot.is_installed());
    change(nullptr, 1, 1, 1, 0, 0);
    // The function itself, called past the slot, is as it was.
    EXPECT(g_redirected == ++redirected);
    EXPECT(last()->calls == calls);
    slot.Remove(real);
    EXPECT(!slot.is_installed());
    // Its second call shows that the slot was not led to the linker's stub.
    change(nullptr, 1, 1, 1, 0, 0);
    change(nullptr, 1, 1, 1, 0, 0);
    calls += 2;
    EXPECT(last()->calls == calls);
    EXPECT(g_redirected == redirected);
  }
  return 0;
}

}  // namespace

TEST_CASE("a slot of a linkage table is redirected and led back to the function itself") {
  const std::string binding = GENERATE("lazy", "now");
  const bool call_before = GENERATE(false, true);
  CAPTURE(binding, call_before);
  // Libraries of one name are loaded once in a process.
  const pid_t child = fork();
  if (child == 0) _exit(RedirectAndRestore(binding, call_before));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace nanolane::inject
