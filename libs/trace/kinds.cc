#include "libs/trace/kinds.h"

namespace nanolane::trace {

std::string_view ToString(EventKind kind) {
  switch (kind) {
    case EventKind::kUnspecified: return "unspecified";
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "memcpy";
    case EventKind::kMemset: return "memset";
    case EventKind::kSync: return "sync";
    case EventKind::kNvtx: return "nvtx";
    case EventKind::kMemory: return "memory";
    case EventKind::kApi: return "api";
  }
  return "unknown";
}

std::string_view ToString(LaneKind kind) {
  switch (kind) {
    case LaneKind::kUnspecified: return "unspecified";
    case LaneKind::kStream: return "stream";
    case LaneKind::kStreamSync: return "stream_sync";
    case LaneKind::kNoStreamSync: return "no_stream_sync";
    case LaneKind::kNvtxThread: return "nvtx_thread";
    case LaneKind::kNvtxStream: return "nvtx_stream";
    case LaneKind::kThreadApi: return "thread_api";
    case LaneKind::kMemoryDriver: return "memory_driver";
    case LaneKind::kMemoryFramework: return "memory_framework";
  }
  return "unknown";
}

std::string_view ToString(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kNone: return "";
    case CopyDirection::kHostToDevice: return "H2D";
    case CopyDirection::kDeviceToHost: return "D2H";
    case CopyDirection::kDeviceToDevice: return "D2D";
    case CopyDirection::kHostToHost: return "H2H";
    case CopyDirection::kPeerToPeer: return "P2P";
  }
  return "";
}

std::string_view ToString(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kUnknown: return "";
    case MemoryKind::kPageable: return "pageable";
    case MemoryKind::kPinned: return "pinned";
    case MemoryKind::kDevice: return "device";
    case MemoryKind::kArray: return "array";
    case MemoryKind::kManaged: return "managed";
  }
  return "";
}

std::string_view ToString(SyncKind kind) {
  switch (kind) {
    case SyncKind::kNone: return "";
    case SyncKind::kStream: return "stream";
    case SyncKind::kEvent: return "event";
    case SyncKind::kContext: return "context";
    case SyncKind::kDevice: return "device";
    case SyncKind::kStreamWaitEvent: return "stream wait event";
  }
  return "";
}

std::string_view ToString(OpFamily family) {
  switch (family) {
    case OpFamily::kOther: return "other";
    case OpFamily::kGemm: return "gemm";
    case OpFamily::kAttention: return "attention";
    case OpFamily::kNorm: return "norm";
    case OpFamily::kReduce: return "reduce";
    case OpFamily::kElementwise: return "elementwise";
    case OpFamily::kCommunication: return "communication";
    case OpFamily::kConvolution: return "convolution";
    case OpFamily::kSoftmax: return "softmax";
    case OpFamily::kEmbedding: return "embedding";
    case OpFamily::kOptimizer: return "optimizer";
    case OpFamily::kIndexing: return "indexing";
    case OpFamily::kSortScan: return "sort, scan";
    case OpFamily::kRandom: return "random";
  }
  return "other";
}

namespace {

Category KernelCategory(OpFamily family) {
  switch (family) {
    case OpFamily::kGemm:
    case OpFamily::kConvolution: return Category::kGemm;
    case OpFamily::kAttention: return Category::kAttention;
    case OpFamily::kNorm:
    case OpFamily::kReduce:
    case OpFamily::kSoftmax: return Category::kNormReduce;
    case OpFamily::kElementwise:
    case OpFamily::kOptimizer:
    case OpFamily::kIndexing:
    case OpFamily::kEmbedding:
    case OpFamily::kRandom: return Category::kElementwise;
    case OpFamily::kCommunication: return Category::kCommunication;
    case OpFamily::kSortScan:
    case OpFamily::kOther: return Category::kOtherKernel;
  }
  return Category::kOtherKernel;
}

}  // namespace

Category CategoryOf(EventKind kind, OpFamily family, CopyDirection direction) {
  switch (kind) {
    case EventKind::kUnspecified: return Category::kOtherKernel;
    case EventKind::kKernel: return KernelCategory(family);
    case EventKind::kMemcpy:
      if (direction == CopyDirection::kHostToDevice) return Category::kH2D;
      if (direction == CopyDirection::kDeviceToHost) return Category::kD2H;
      if (direction == CopyDirection::kDeviceToDevice) return Category::kD2D;
      return Category::kOtherCopy;
    case EventKind::kMemset: return Category::kMemset;
    case EventKind::kSync: return Category::kSync;
    case EventKind::kNvtx: return Category::kNvtx;
    case EventKind::kMemory: return Category::kMemory;
    case EventKind::kApi: return Category::kApi;
  }
  return Category::kOtherKernel;
}

std::string_view ToString(Category category) {
  switch (category) {
    case Category::kOtherKernel: return "other kernel";
    case Category::kGemm: return "gemm";
    case Category::kAttention: return "attention";
    case Category::kNormReduce: return "norm, reduce";
    case Category::kElementwise: return "elementwise";
    case Category::kCommunication: return "communication";
    case Category::kH2D: return "H2D";
    case Category::kD2H: return "D2H";
    case Category::kD2D: return "D2D";
    case Category::kOtherCopy: return "other copy";
    case Category::kMemset: return "memset";
    case Category::kSync: return "sync";
    case Category::kNvtx: return "NVTX";
    case Category::kMemory: return "memory";
    case Category::kApi: return "API";
  }
  return "other";
}

}  // namespace nanolane::trace
