// Work as CUPTI's records, in the layout of the version that the simulated library reports. Pure.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "tests/simulated_gpu/activity.h"

namespace nanolane::sim {

inline constexpr size_t kMaxRecordBytes = 256;

// Bytes of a record; 0: no such record exists.
size_t RecordBytes(CUpti_ActivityKind kind, int64_t version);

// Writes the record, and returns its bytes. `to` has room for kMaxRecordBytes.
size_t WriteRecord(const Work& work, int64_t version, uint8_t* to);

}  // namespace nanolane::sim
