#include "services/collector/session/api_names.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace nanolane::collector {
namespace {

using trace::CopyDirection;
using trace::MemoryKind;

struct Call {
  uint16_t cbid;
  std::string_view name;
};

constexpr Call kRuntimeSyncCalls[] = {
    {126, "cudaThreadSynchronize"}, {131, "cudaStreamSynchronize"}, {137, "cudaEventSynchronize"},
    {147, "cudaStreamWaitEvent"},   {165, "cudaDeviceSynchronize"}, {239, "cudaStreamSynchronize"},
    {247, "cudaStreamWaitEvent"},
};

constexpr Call kDriverSyncCalls[] = {
    {17, "cuCtxSynchronize"},   {121, "cuEventSynchronize"}, {126, "cuStreamSynchronize"},
    {295, "cuStreamWaitEvent"}, {436, "cuStreamWaitEvent"},  {440, "cuStreamSynchronize"},
    {800, "cuCtxSynchronize"},
};

// cudaLaunch, cudaLaunchKernel, …CooperativeKernel, …CooperativeKernelMultiDevice, …KernelExC,
// __cudaLaunchKernel; with per-thread default streams too.
constexpr uint16_t kRuntimeKernelCalls[] = {13, 211, 213, 214, 269, 270, 272, 430, 431, 505, 506};
// cuLaunch, cuLaunchGrid, cuLaunchGridAsync, cuLaunchKernel, …CooperativeKernel,
// …CooperativeKernelMultiDevice, …KernelEx.
constexpr uint16_t kDriverKernelCalls[] = {115, 116, 117, 307, 442, 477, 478, 480, 652, 653};

bool IsDriver(uint8_t domain) { return domain == static_cast<uint8_t>(wire::ApiDomain::kDriver); }

struct CopyRow {
  std::string_view word;
  CopyDirection direction;
};
// Arrays are device memory.
constexpr std::array<CopyRow, 11> kCopies = {{
    {"", CopyDirection::kNone},
    {"HtoD", CopyDirection::kHostToDevice},
    {"DtoH", CopyDirection::kDeviceToHost},
    {"HtoA", CopyDirection::kHostToDevice},
    {"AtoH", CopyDirection::kDeviceToHost},
    {"AtoA", CopyDirection::kDeviceToDevice},
    {"AtoD", CopyDirection::kDeviceToDevice},
    {"DtoA", CopyDirection::kDeviceToDevice},
    {"DtoD", CopyDirection::kDeviceToDevice},
    {"HtoH", CopyDirection::kHostToHost},
    {"PtoP", CopyDirection::kPeerToPeer},
}};

struct MemoryRow {
  std::string_view word;
  MemoryKind kind;
};
constexpr std::array<MemoryRow, 8> kMemories = {{
    {"Unknown", MemoryKind::kUnknown},
    {"Pageable", MemoryKind::kPageable},
    {"Pinned", MemoryKind::kPinned},
    {"Device", MemoryKind::kDevice},
    {"Array", MemoryKind::kArray},
    {"Managed", MemoryKind::kManaged},
    {"Device Static", MemoryKind::kDevice},
    {"Managed Static", MemoryKind::kManaged},
}};

const CopyRow& CopyOf(uint8_t kind) { return kCopies[kind < kCopies.size() ? kind : 0]; }
const MemoryRow& MemoryOf(uint8_t kind) { return kMemories[kind < kMemories.size() ? kind : 0]; }

}  // namespace

std::string_view SyncCallName(uint8_t domain, uint16_t cbid) {
  const auto name_in = [cbid](const auto& calls) -> std::string_view {
    const auto found = std::find_if(std::begin(calls), std::end(calls),
                                    [cbid](const Call& call) { return call.cbid == cbid; });
    return found == std::end(calls) ? "" : found->name;
  };
  return IsDriver(domain) ? name_in(kDriverSyncCalls) : name_in(kRuntimeSyncCalls);
}

bool LaunchesKernel(uint8_t domain, uint16_t cbid) {
  const auto is_in = [cbid](const auto& calls) {
    return std::find(std::begin(calls), std::end(calls), cbid) != std::end(calls);
  };
  return IsDriver(domain) ? is_in(kDriverKernelCalls) : is_in(kRuntimeKernelCalls);
}

std::string_view CopyWord(uint8_t copy_kind) { return CopyOf(copy_kind).word; }
CopyDirection CopyDirectionOf(uint8_t copy_kind) { return CopyOf(copy_kind).direction; }

std::string_view MemoryWord(uint8_t memory_kind) { return MemoryOf(memory_kind).word; }
MemoryKind MemoryKindOf(uint8_t memory_kind) { return MemoryOf(memory_kind).kind; }

bool IsDeviceMemory(uint8_t memory_kind) {
  const MemoryKind kind = MemoryKindOf(memory_kind);
  return kind == MemoryKind::kDevice || kind == MemoryKind::kArray;
}

}  // namespace nanolane::collector
