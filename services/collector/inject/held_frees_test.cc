#include "services/collector/inject/held_frees.h"

#include <dlfcn.h>
#include <malloc.h>

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

size_t MappedBytes() { return mallinfo2().hblkhd; }

void* Block() {
  void* block = malloc(kBlockBytes);
  REQUIRE(block != nullptr);
  memset(block, 0x5A, 64);
  return block;
}

}  // namespace

TEST_CASE("what a library frees is kept until its time has come") {
  const Free library_frees = FreeOfLibrary();
  const size_t before = MappedBytes();
  void* block = Block();
  REQUIRE(MappedBytes() >= before + kBlockBytes);
  REQUIRE(BeginHoldingFrees(CodeOf(library_frees)));
  library_frees(block);
  library_frees(nullptr);
  CHECK(static_cast<unsigned char*>(block)[63] == 0x5A);
  // Others' frees are theirs.
  free(Block());
  CHECK(MappedBytes() >= before + kBlockBytes);
  CHECK(MappedBytes() < before + 2 * kBlockBytes);
  EndHoldingFrees(1'000);
  CHECK(NextFreeing() == 1'000);
  FreeHeld(999);
  CHECK(MappedBytes() >= before + kBlockBytes);
  CHECK(static_cast<unsigned char*>(block)[63] == 0x5A);
  FreeHeld(1'000);
  CHECK(MappedBytes() < before + kBlockBytes);
  CHECK(NextFreeing() == INT64_MAX);

  block = Block();
  library_frees(block);
  CHECK(MappedBytes() < before + kBlockBytes);
}

TEST_CASE("what is kept does not pile up") {
  const Free library_frees = FreeOfLibrary();
  const size_t before = MappedBytes();
  for (int i = 0; i < 20; ++i) {
    REQUIRE(BeginHoldingFrees(CodeOf(library_frees)));
    library_frees(Block());
    EndHoldingFrees(1'000 + i);
    CHECK(MappedBytes() < before + 5 * kBlockBytes);
  }
  CHECK(MappedBytes() >= before + 4 * kBlockBytes);
  CHECK(NextFreeing() == 1'016);
  FreeHeld(2'000);
  CHECK(MappedBytes() < before + kBlockBytes);
}

TEST_CASE("threads free while memory is kept, and each block is freed once") {
  const Free library_frees = FreeOfLibrary();
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) library_frees(malloc(32));
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
