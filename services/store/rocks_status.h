// RocksDB's status codes as absl::Status: the one place that converts them.
#pragma once

#include <rocksdb/status.h>

#include <string_view>

#include "absl/status/status.h"

namespace nanolane::store {

// `doing` says what was tried, such as "opening the store".
absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing);

}  // namespace nanolane::store
