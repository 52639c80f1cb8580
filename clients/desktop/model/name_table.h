// Names of ops, merged over sessions and writer epochs into one dense id, with the short form that
// fits on a span. Id 0 is the empty name. Thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace nanolane::desktop {

using NameId = uint32_t;

class NameTable {
 public:
  NameTable();

  NameId Intern(std::string_view full);
  const std::string& Full(NameId name) const { return names_[name].full; }
  const std::string& Short(NameId name) const { return names_[name].brief; }
  size_t size() const { return names_.size(); }

 private:
  struct Name {
    std::string full;
    std::string brief;
  };
  std::deque<Name> names_;  // a deque: the map's keys point into it
  absl::flat_hash_map<std::string_view, NameId> ids_;
};

}  // namespace nanolane::desktop
