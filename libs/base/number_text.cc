#include "libs/base/number_text.h"

namespace nanolane::base {

std::string GroupedCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ' ');
  }
  return digits;
}

}  // namespace nanolane::base
