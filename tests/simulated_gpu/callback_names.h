// Names of callback ids, for those functions that the simulated GPU has. Thread-safe.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace nanolane::sim {

// Null: no function of the simulated GPU has the id.
const char* CallbackName(CUpti_CallbackDomain domain, uint32_t id);

}  // namespace nanolane::sim
