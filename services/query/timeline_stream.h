// StreamTimeline: blocks of a window as they are read, each after the dictionary entries it needs.
#pragma once

#include "absl/status/status.h"
#include "libs/rpc/handlers.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// Writes the whole stream; ends early, with OK, when the client has gone. Blocking.
absl::Status StreamTimeline(const v1::StreamTimelineRequest& request, StoreReader& store,
                            rpc::StreamWriter<v1::StreamTimelineResponse>& writer);

}  // namespace nanolane::query
