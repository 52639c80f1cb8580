// Names of kernels, ranges and domains as ids of facts in the ring: each text is written once per
// capture. Thread-safe.
//
// A table by the hash of the text, of fixed size; a thread's own last names are found without the
// lock. When the table or the facts are full, names get the id 0 and are counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {

// Id of `text` in the capture of `ring`; 0: no room. `kind` is the slot that a loss counts for.
uint32_t NameFact(Ring& ring, ThreadState& thread, const char* text, size_t bytes, uint32_t kind);

// Before a capture: forgets the names of the one before. False: out of memory.
bool ResetNames();
void ResetNamesAfterFork();

// 64-bit hash of bytes (FNV-1a by words, finished by a multiplication).
uint64_t HashBytes(const char* text, size_t bytes);

}  // namespace nanolane::inject
