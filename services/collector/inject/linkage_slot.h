// A call that one loaded library makes into another, redirected while the process runs: the slot of
// the caller's linkage table that holds the callee's address is changed, and changed back.
//
// The agent's thread installs and removes. Threads that are within the call, or have read the slot
// already, may still arrive at the replacement after its removal.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanolane::inject {

class LinkageSlot {
 public:
  // Redirects `symbol` as called by the library with the file name `library` ("libc10_cuda.so") to
  // `replacement`. False: the library is not loaded, or does not call the symbol that way.
  bool Install(const char* library, const char* symbol, void* replacement);
  // The same for the library that `code` is a function of.
  bool InstallIn(const void* code, const char* symbol, void* replacement);
  // Back to `real`, the function itself: not to what the slot held, which may be the linker's stub
  // of a slot that was not bound yet; a thread within the stub would write over the next
  // replacement.
  void Remove(void* real);
  bool is_installed() const { return installed_; }

 private:
  bool InstallAt(std::atomic<void*>* slot, void* replacement);

  std::atomic<void*>* slot_ = nullptr;
  bool installed_ = false;
};

bool LibraryIsLoaded(const char* library);

}  // namespace nanolane::inject
