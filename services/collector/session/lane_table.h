// Lanes of a session's events: which row of the timeline a record belongs to. Bounded: a process
// that names ever new streams gets kMaxLanes lanes, and 0 after that. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/trace/dictionary.h"
#include "nanolane/trace/v1/trace.pb.h"
#include "services/collector/inject/wire.h"
#include "services/collector/session/name_table.h"

namespace nanolane::collector {

namespace wire = inject::wire;

class LaneTable {
 public:
  static constexpr size_t kMaxLanes = 1 << 14;
  static constexpr size_t kMaxContexts = 1 << 16;

  LaneTable(trace::DictionaryBuilder& dictionary, const NameTable& names)
      : dictionary_(dictionary), names_(names) {}

  // The first fact of a device or a context counts. A lane keeps what was known of its device when
  // it first came up.
  void AddDevice(const wire::DeviceFact& fact);
  void AddContext(const wire::ContextFact& fact);

  // Each 0 when there are too many lanes.
  trace::LaneId Stream(uint32_t device, uint32_t context, uint32_t stream);
  trace::LaneId Sync(const wire::SyncRecord& record);
  trace::LaneId NvtxThread(uint32_t thread, uint32_t domain);
  trace::LaneId DriverMemory(uint32_t device);
  trace::LaneId FrameworkMemory(int32_t device);

  // Devices that the process has told of, by number.
  std::vector<nanolane::trace::v1::Gpu> Gpus() const;

 private:
  struct Key {
    trace::LaneKind kind = trace::LaneKind::kUnspecified;
    int32_t device = -1;
    uint32_t context = 0;
    int64_t stream = -1;  // of an NVTX lane the thread, with the domain as context

    bool operator==(const Key&) const = default;
    template <typename Hash>
    friend Hash AbslHashValue(Hash hash, const Key& key) {
      return Hash::combine(std::move(hash), key.kind, key.device, key.context, key.stream);
    }
  };

  template <typename MakeLane>
  trace::LaneId Find(const Key& key, MakeLane make);
  trace::LaneId OfDevice(const Key& key);

  trace::DictionaryBuilder& dictionary_;
  const NameTable& names_;
  std::map<int32_t, nanolane::trace::v1::Gpu> gpus_;
  absl::flat_hash_map<uint32_t, int32_t> device_of_context_;
  // Context of the last work on (device, stream), for waits that do not say it.
  absl::flat_hash_map<std::pair<int32_t, int64_t>, uint32_t> context_of_stream_;
  absl::flat_hash_map<Key, trace::LaneId> lanes_;
  Key last_key_;
  trace::LaneId last_ = 0;
};

}  // namespace nanolane::collector
