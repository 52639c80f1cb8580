// What a collector that has started anew asks of each capture that it finds: how much of it is in
// the store or in the spool, and so need not be read again. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/collector/delivery/spool.h"

namespace nanolane::collector {

// The last request of the epoch that is stored or will be; 0: none. UNAVAILABLE while the store is
// away and the spool alone does not tell. Waits for the store up to rpc::kUnaryDeadline.
absl::StatusOr<uint64_t> StoredSequence(const Spool& spool,
                                        nanolane::store::v1::StoreService::StubInterface& store,
                                        const std::string& session_id, uint64_t epoch);

}  // namespace nanolane::collector
