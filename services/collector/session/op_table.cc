#include "services/collector/session/op_table.h"

#include <string>

#include "libs/base/str_cat.h"
#include "services/collector/session/api_names.h"

namespace nanolane::collector {
namespace {

using trace::EventKind;
using trace::Op;
using trace::OpId;
using trace::SyncKind;

uint32_t Low(int64_t value) { return static_cast<uint32_t>(static_cast<uint64_t>(value)); }
uint32_t High(int64_t value) { return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32); }

uint32_t KindNumber(EventKind kind) { return static_cast<uint32_t>(kind); }

SyncKind SyncKindOf(uint8_t type) {
  return type <= static_cast<uint8_t>(SyncKind::kStreamWaitEvent) ? static_cast<SyncKind>(type)
                                                                  : SyncKind::kNone;
}

// For calls that are not in the table.
std::string_view SyncWords(SyncKind kind) {
  switch (kind) {
    case SyncKind::kStream: return "stream synchronize";
    case SyncKind::kEvent: return "event synchronize";
    case SyncKind::kContext: return "context synchronize";
    case SyncKind::kDevice: return "device synchronize";
    case SyncKind::kStreamWaitEvent: return "stream wait event";
    case SyncKind::kNone: break;
  }
  return "synchronize";
}

}  // namespace

// `make(op)` fills in what the key stands for, and says whether the key will mean the same later.
template <typename MakeOp>
OpId OpTable::Find(const Key& key, MakeOp make) {
  if (const auto found = ops_.find(key); found != ops_.end()) return found->second;
  Op op;
  op.kind = static_cast<EventKind>(key[0]);
  const bool lasts = make(op);
  if (IsFull()) {
    ++blurred_;
    return dictionary_.Intern(Op{.kind = op.kind,
                                 .family = op.family,
                                 .copy_direction = op.copy_direction,
                                 .sync_kind = op.sync_kind,
                                 .name = op.name});
  }
  const OpId id = dictionary_.Intern(op);
  if (lasts) ops_.emplace(key, id);
  return id;
}

void OpTable::SetAttribute(Op& op, std::string_view key, std::string_view value) {
  if (IsFull()) return;
  op.attributes.emplace_back(dictionary_.Intern(key), dictionary_.Intern(value));
}

OpId OpTable::Kernel(const wire::KernelRecord& record) {
  const Key key = {KindNumber(EventKind::kKernel),
                   record.name,
                   record.grid[0],
                   record.grid[1],
                   record.grid[2],
                   record.block[0],
                   record.block[1],
                   record.block[2],
                   record.registers_per_thread,
                   record.static_shared_bytes,
                   record.dynamic_shared_bytes};
  return Find(key, [&](Op& op) {
    const NameTable::Name name = names_.Kernel(record.name);
    if (!name.known) ++unknown_names_;
    op.family = name.family;
    op.name = name.id;
    op.grid = {record.grid[0], record.grid[1], record.grid[2]};
    op.block = {record.block[0], record.block[1], record.block[2]};
    op.registers_per_thread = record.registers_per_thread;
    op.static_shared_bytes = record.static_shared_bytes;
    op.dynamic_shared_bytes = record.dynamic_shared_bytes;
    return name.known;
  });
}

OpId OpTable::Copy(const wire::MemcpyRecord& record) {
  const bool is_peer = CopyDirectionOf(record.copy_kind) == trace::CopyDirection::kPeerToPeer;
  const Key key = {KindNumber(EventKind::kMemcpy),
                   record.copy_kind,
                   record.source_kind,
                   record.destination_kind,
                   record.is_async,
                   is_peer ? Low(record.source_device) : 0,
                   is_peer ? Low(record.destination_device) : 0};
  return Find(key, [&](Op& op) {
    const std::string_view word = CopyWord(record.copy_kind);
    op.name = dictionary_.Intern(base::StrCat("Memcpy ", word, word.empty() ? "(" : " (",
                                              MemoryWord(record.source_kind), " -> ",
                                              MemoryWord(record.destination_kind), ")"));
    op.copy_direction = CopyDirectionOf(record.copy_kind);
    op.source_memory = MemoryKindOf(record.source_kind);
    op.destination_memory = MemoryKindOf(record.destination_kind);
    op.is_async = record.is_async != 0;
    if (is_peer) {
      SetAttribute(op, "source device", base::StrCat("GPU ", record.source_device));
      SetAttribute(op, "destination device", base::StrCat("GPU ", record.destination_device));
    }
    return true;
  });
}

OpId OpTable::Set(const wire::MemsetRecord& record) {
  const Key key = {KindNumber(EventKind::kMemset), record.memory_kind, record.is_async};
  return Find(key, [&](Op& op) {
    op.name = dictionary_.Intern(base::StrCat("Memset (", MemoryWord(record.memory_kind), ")"));
    op.destination_memory = MemoryKindOf(record.memory_kind);
    op.is_async = record.is_async != 0;
    return true;
  });
}

OpId OpTable::Sync(const wire::SyncRecord& record) {
  const SyncKind kind = SyncKindOf(record.sync_type);
  const int64_t recorded_on = kind == SyncKind::kStreamWaitEvent ? record.event_stream : -1;
  const Key key = {KindNumber(EventKind::kSync),
                   record.sync_type,
                   record.domain,
                   record.cbid,
                   Low(recorded_on),
                   High(recorded_on)};
  return Find(key, [&](Op& op) {
    const std::string_view name = SyncCallName(record.domain, record.cbid);
    op.name = dictionary_.Intern(name.empty() ? SyncWords(kind) : name);
    op.sync_kind = kind;
    if (recorded_on >= 0) SetAttribute(op, "recorded on", base::StrCat("Stream ", recorded_on));
    return true;
  });
}

OpId OpTable::Range(const wire::NvtxRecord& record) {
  const uint32_t extent = record.flags & (wire::kNvtxBeganBefore | wire::kNvtxStillOpen);
  const Key key = {KindNumber(EventKind::kNvtx), record.name, extent};
  return Find(key, [&](Op& op) {
    const NameTable::Name name = names_.Plain(record.name);
    if (!name.known) ++unknown_names_;
    op.family = name.family;
    op.name = name.id;
    if ((extent & wire::kNvtxBeganBefore) != 0) {
      SetAttribute(op, "extent", "began before the capture");
    }
    if ((extent & wire::kNvtxStillOpen) != 0) {
      SetAttribute(op, "extent", "open when the capture ended");
    }
    return name.known;
  });
}

OpId OpTable::Memory(const wire::MemoryRecord& record) {
  const bool is_free = record.bytes < 0;
  // The last number tells it from the framework's.
  const Key key = {KindNumber(EventKind::kMemory), is_free, record.memory_kind, record.is_async, 1};
  return Find(key, [&](Op& op) {
    op.name = dictionary_.Intern(is_free ? "free" : "alloc");
    op.destination_memory = MemoryKindOf(record.memory_kind);
    op.is_async = record.is_async != 0;
    return true;
  });
}

OpId OpTable::FrameworkMemory(const wire::FrameworkMemoryRecord& record) {
  const bool is_free = record.bytes < 0;
  return Find({KindNumber(EventKind::kMemory), is_free}, [&](Op& op) {
    op.name = dictionary_.Intern(is_free ? "free" : "alloc");
    return true;
  });
}

}  // namespace nanolane::collector
