// Command-line options of whoever runs every service in one process.
#pragma once

#include "services/collector/collector_flags.h"
#include "services/store/store_flags.h"

namespace nanolane::all_in_one {

using collector::CollectorFlags;
using store::StoreFlags;

}  // namespace nanolane::all_in_one
