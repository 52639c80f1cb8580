// Decodes blocks of one session for the viewer: the timeline's columns of every lane, levels too of
// memory lanes. Which lanes are which it learns from the lanes that the stream announces; blocks
// come after their lane. Thread-compatible.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/desktop/model/session_facts.h"
#include "nanolane/query/v1/query.pb.h"

namespace nanolane::desktop {

class BlockReader {
 public:
  // DATA_LOSS for an id beyond all bounds.
  absl::Status Know(const std::vector<LaneFacts>& lanes);

  // The block of session `session` (an index), decoded. DATA_LOSS or INVALID_ARGUMENT for bytes
  // that are no block.
  absl::StatusOr<BlockArrived> Read(uint32_t session, const query::v1::Block& block) const;

 private:
  std::vector<bool> memory_lane_;  // by lane id
};

}  // namespace nanolane::desktop
