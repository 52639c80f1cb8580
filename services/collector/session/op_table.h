// Ops of a session's events. A program repeats a few thousand ops millions of times, so that each
// kind of op is found by a few plain numbers, and the dictionary is asked once.
//
// Bounded against a process that never repeats itself: beyond kMaxOps ops lose what tells them
// apart beyond their name. Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "libs/trace/dictionary.h"
#include "services/collector/inject/wire.h"
#include "services/collector/session/name_table.h"

namespace nanolane::collector {

namespace wire = inject::wire;

class OpTable {
 public:
  static constexpr size_t kMaxOps = 1 << 18;

  OpTable(trace::DictionaryBuilder& dictionary, NameTable& names)
      : dictionary_(dictionary), names_(names) {}

  trace::OpId Kernel(const wire::KernelRecord& record);
  trace::OpId Copy(const wire::MemcpyRecord& record);
  trace::OpId Set(const wire::MemsetRecord& record);
  trace::OpId Sync(const wire::SyncRecord& record);
  trace::OpId Range(const wire::NvtxRecord& record);
  trace::OpId Memory(const wire::MemoryRecord& record);
  trace::OpId FrameworkMemory(const wire::FrameworkMemoryRecord& record);

  // Events whose name the process had not said.
  uint64_t unknown_names() const { return unknown_names_; }
  // Ops that lost what tells them apart.
  uint64_t blurred() const { return blurred_; }

 private:
  // Kind first; what follows is up to the kind.
  using Key = std::array<uint32_t, 12>;

  bool IsFull() const { return dictionary_.tables().op_count() >= kMaxOps; }
  template <typename MakeOp>
  trace::OpId Find(const Key& key, MakeOp make);
  void SetAttribute(trace::Op& op, std::string_view key, std::string_view value);

  trace::DictionaryBuilder& dictionary_;
  NameTable& names_;
  absl::flat_hash_map<Key, trace::OpId> ops_;
  uint64_t unknown_names_ = 0;
  uint64_t blurred_ = 0;
};

}  // namespace nanolane::collector
