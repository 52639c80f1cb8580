#include "libs/trace/model.h"

#include "libs/base/str_cat.h"

namespace nanolane::trace {

std::string LaneLabel(const Lane& lane) {
  const std::string domain = lane.domain.empty() ? "" : base::StrCat(" ", lane.domain);
  switch (lane.kind) {
    case LaneKind::kStream: return base::StrCat("Stream ", lane.stream);
    case LaneKind::kStreamSync: return base::StrCat("Stream ", lane.stream, " (sync)");
    case LaneKind::kNoStreamSync: return "No stream (sync)";
    case LaneKind::kNvtxThread: return base::StrCat("NVTX", domain, " thread ", lane.thread);
    case LaneKind::kNvtxStream: return base::StrCat("NVTX", domain, " stream ", lane.stream);
    case LaneKind::kThreadApi: return base::StrCat("Thread ", lane.thread, " (API)");
    case LaneKind::kMemoryDriver: return "GPU memory (driver)";
    case LaneKind::kMemoryFramework: return "GPU memory (framework)";
    case LaneKind::kUnspecified: return "Lane";
  }
  return "Lane";
}

}  // namespace nanolane::trace
