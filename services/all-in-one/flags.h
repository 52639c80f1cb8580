// Command-line options of whoever runs every service in one process.
#pragma once

#include "services/store/store_flags.h"

namespace nanolane::all_in_one {

using store::StoreFlags;

}  // namespace nanolane::all_in_one
