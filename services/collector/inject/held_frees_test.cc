#include "services/collector/inject/held_frees.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

#include <cstring>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

namespace nanolane::inject {
namespace {

constexpr size_t kBlockBytes = 64 << 20;  // mapped on its own, so that its end can be seen
using Free = void (*)(void*);

Free FreeOfLibrary() {
  static void* const library = dlopen(STAND_INS "/libcupti.so", RTLD_LAZY | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  return reinterpret_cast<Free>(dlsym(library, "StandInFree"));
}

const void* CodeOf(Free function) { return reinterpret_cast<const void*>(function); }

// Of a block that is mapped on its own.
bool IsFreed(void* block) {
#if defined(__SANITIZE_ADDRESS__)
  return __asan_region_is_poisoned(block, 64) != nullptr;
#else
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  void* const begin = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) & ~(page - 1));
  return mincore(begin, 1, &resident) != 0;
#endif
}

void* Block() {
  void* block = malloc(kBlockBytes);
  REQUIRE(block != nullptr);
  memset(block, 0x5A, 64);
  return block;
}

// A block that may stay: one that is noted too late to be freed with its generation.
void* SmallBlock() {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler may_stay;
#endif
  return malloc(32);
}

}  // namespace

TEST_CASE("what a library frees is kept until its time has come") {
  const Free library_frees = FreeOfLibrary();
  void* block = Block();
  CHECK_FALSE(IsFreed(block));
  REQUIRE(BeginHoldingFrees(CodeOf(library_frees)));
  library_frees(block);
  library_frees(nullptr);
  CHECK_FALSE(IsFreed(block));
  CHECK(static_cast<unsigned char*>(block)[63] == 0x5A);
  // Others' frees are theirs.
  void* const another = Block();
  free(another);
  CHECK(IsFreed(another));
  EndHoldingFrees(1'000);
  CHECK(NextFreeing() == 1'000);
  FreeHeld(999);
  CHECK_FALSE(IsFreed(block));
  CHECK(static_cast<unsigned char*>(block)[63] == 0x5A);
  FreeHeld(1'000);
  CHECK(IsFreed(block));
  CHECK(NextFreeing() == INT64_MAX);

  block = Block();
  library_frees(block);
  CHECK(IsFreed(block));
}

TEST_CASE("what is kept does not pile up") {
  const Free library_frees = FreeOfLibrary();
  std::vector<void*> blocks;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(BeginHoldingFrees(CodeOf(library_frees)));
    blocks.push_back(Block());
    library_frees(blocks.back());
    EndHoldingFrees(1'000 + i);
  }
  CHECK(NextFreeing() == 1'016);
  for (int i = 16; i < 20; ++i) CHECK_FALSE(IsFreed(blocks[static_cast<size_t>(i)]));
  FreeHeld(1'017);
  CHECK(NextFreeing() == 1'018);
  FreeHeld(2'000);
  CHECK(NextFreeing() == INT64_MAX);
  CHECK(IsFreed(blocks[19]));
}

TEST_CASE("threads free while memory is kept, and no block is freed twice") {
  const Free library_frees = FreeOfLibrary();
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) library_frees(SmallBlock());
    });
  }
  for (int i = 0; i < 300; ++i) {
    CHECK(BeginHoldingFrees(CodeOf(library_frees)));
    std::this_thread::yield();
    EndHoldingFrees(i);
    FreeHeld(i - 1);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  FreeHeld(1'000);
  CHECK(NextFreeing() == INT64_MAX);
}

TEST_CASE("a library that does not call free cannot be kept from it") {
  CHECK_FALSE(BeginHoldingFrees(nullptr));
  CHECK(NextFreeing() == INT64_MAX);
}

}  // namespace nanolane::inject
