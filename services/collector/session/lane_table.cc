#include "services/collector/session/lane_table.h"

#include "services/collector/session/clean_text.h"

namespace nanolane::collector {
namespace {

using trace::Lane;
using trace::LaneId;
using trace::LaneKind;

int32_t DeviceNumber(uint32_t device) { return static_cast<int32_t>(device); }

}  // namespace

void LaneTable::AddDevice(const wire::DeviceFact& fact) {
  const int32_t index = DeviceNumber(fact.header.id);
  if (gpus_.size() >= wire::kMaxGpus || gpus_.contains(index)) return;
  nanolane::trace::v1::Gpu& gpu = gpus_[index];
  gpu.set_index(index);
  gpu.set_uuid(UuidText(fact.uuid));
  gpu.set_name(FieldText(fact.name, sizeof(fact.name)));
  gpu.set_memory_bytes(fact.memory_bytes);
}

void LaneTable::AddContext(const wire::ContextFact& fact) {
  if (device_of_context_.size() >= kMaxContexts) return;
  device_of_context_.try_emplace(fact.header.id, DeviceNumber(fact.device));
}

std::vector<nanolane::trace::v1::Gpu> LaneTable::Gpus() const {
  std::vector<nanolane::trace::v1::Gpu> gpus;
  for (const auto& [index, gpu] : gpus_) gpus.push_back(gpu);
  return gpus;
}

// Most records are of the lane of the record before them.
template <typename MakeLane>
LaneId LaneTable::Find(const Key& key, MakeLane make) {
  if (last_ != 0 && key == last_key_) return last_;
  const auto found = lanes_.find(key);
  if (found == lanes_.end() && lanes_.size() >= kMaxLanes) return 0;
  last_ = found != lanes_.end() ? found->second
                                : lanes_.emplace(key, dictionary_.Intern(make())).first->second;
  last_key_ = key;
  return last_;
}

LaneId LaneTable::OfDevice(const Key& key) {
  return Find(key, [&] {
    Lane lane = {
        .kind = key.kind, .gpu_index = key.device, .context = key.context, .stream = key.stream};
    if (const auto gpu = gpus_.find(key.device); gpu != gpus_.end()) {
      lane.gpu_uuid = gpu->second.uuid();
    }
    return lane;
  });
}

LaneId LaneTable::Stream(uint32_t device, uint32_t context, uint32_t stream) {
  const Key key = {LaneKind::kStream, DeviceNumber(device), context, int64_t{stream}};
  if (last_ != 0 && key == last_key_) return last_;
  const LaneId lane = OfDevice(key);
  if (lane != 0) context_of_stream_[{key.device, key.stream}] = context;
  return lane;
}

LaneId LaneTable::Sync(const wire::SyncRecord& record) {
  int32_t device = record.device;
  if (device < 0) {
    const auto found = device_of_context_.find(record.context);
    device = found == device_of_context_.end() ? -1 : found->second;
  }
  const auto type = static_cast<wire::SyncType>(record.sync_type);
  const bool of_stream = type == wire::SyncType::kStream || type == wire::SyncType::kEvent ||
                         type == wire::SyncType::kStreamWaitEvent;
  if (!of_stream || record.stream < 0) return OfDevice({LaneKind::kNoStreamSync, device});
  uint32_t context = record.context;
  if (context == 0) {
    const auto found = context_of_stream_.find({device, record.stream});
    if (found != context_of_stream_.end()) context = found->second;
  }
  return OfDevice({LaneKind::kStreamSync, device, context, record.stream});
}

LaneId LaneTable::NvtxThread(uint32_t thread, uint32_t domain) {
  const Key key = {LaneKind::kNvtxThread, -1, domain, int64_t{thread}};
  return Find(key, [&] {
    return Lane{.kind = LaneKind::kNvtxThread, .thread = thread, .domain = names_.Text(domain)};
  });
}

LaneId LaneTable::DriverMemory(uint32_t device) {
  return OfDevice({LaneKind::kMemoryDriver, DeviceNumber(device)});
}

LaneId LaneTable::FrameworkMemory(int32_t device) {
  return OfDevice({LaneKind::kMemoryFramework, device});
}

}  // namespace nanolane::collector
