// Changes of memory in the order of their times: CUPTI hands them over in another one, and the
// bytes in use after each are a sum of all before it. A change waits for kWaitNs, within which
// whatever was before it arrives; at most kMaxHeld wait, beyond that the oldest go.
// Thread-compatible.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/functional/function_ref.h"
#include "services/collector/inject/wire.h"
#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

class MemoryChange {
 public:
  // A copy of a record of that type.
  explicit MemoryChange(const RecordView& view) : ref_(view.ref) {
    std::copy_n(view.words, words_.size(), words_.begin());
  }

  const inject::wire::MemoryRecord& record() const {
    return *reinterpret_cast<const inject::wire::MemoryRecord*>(words_.data());
  }
  const RecordRef& ref() const { return ref_; }

 private:
  std::array<uint64_t, sizeof(inject::wire::MemoryRecord) / sizeof(uint64_t)> words_;
  RecordRef ref_;
};

class MemoryOrder {
 public:
  static constexpr size_t kMaxHeld = 1 << 13;
  // The library takes what CUPTI has every 100 ms.
  static constexpr int64_t kWaitNs = 500'000'000;

  using Visit = absl::FunctionRef<void(const MemoryChange&)>;

  // `released` sees what has to go for it.
  void Add(const MemoryChange& change, Visit released);
  // Hands out what has waited long enough at `now_ns`, oldest first.
  void Release(int64_t now_ns, Visit released);
  void ReleaseAll(Visit released);

 private:
  void ReleaseOldest(Visit released);

  // Of one time, in the order of arrival.
  std::multimap<int64_t, MemoryChange> held_;
};

}  // namespace nanolane::collector
