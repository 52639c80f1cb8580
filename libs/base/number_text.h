// Numbers as people read them. The same form everywhere: command line, viewer, documents.
#pragma once

#include <cstdint>
#include <string>

namespace nanolane::base {

// Digits in groups of three: 1234567 → "1 234 567".
std::string GroupedCount(uint64_t count);

}  // namespace nanolane::base
