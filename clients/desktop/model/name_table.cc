#include "clients/desktop/model/name_table.h"

#include "libs/trace/op_family.h"

namespace nanolane::desktop {

NameTable::NameTable() { Intern(""); }

NameId NameTable::Intern(std::string_view full) {
  const auto found = ids_.find(full);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(names_.size());
  names_.push_back({std::string(full), trace::ShortName(full)});
  if (names_.back().brief.empty()) names_.back().brief = full;
  ids_.emplace(names_.back().full, id);
  return id;
}

}  // namespace nanolane::desktop
