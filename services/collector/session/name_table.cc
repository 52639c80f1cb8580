#include "services/collector/session/name_table.h"

#include "libs/trace/op_family.h"
#include "services/collector/session/clean_text.h"

namespace nanolane::collector {

void NameTable::Add(uint32_t number, std::string_view text) {
  if (number == 0) return;
  const auto [it, added] = entries_.try_emplace(number);
  if (added) it->second.text = CleanText(text);
}

NameTable::Name NameTable::Missing(uint32_t number) {
  return {.id = dictionary_.Intern(number == 0 ? "(name not kept)" : "(unknown name)"),
          .known = number == 0};
}

NameTable::Name NameTable::Kernel(uint32_t number) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) return Missing(number);
  Entry& entry = found->second;
  if (entry.kernel.id == 0) {
    const std::string text = Demangled(entry.text);
    entry.kernel = {.id = dictionary_.Intern(text), .family = trace::FamilyOf(text)};
  }
  return entry.kernel;
}

NameTable::Name NameTable::Plain(uint32_t number) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) return Missing(number);
  Entry& entry = found->second;
  if (entry.plain.id == 0) {
    entry.plain = {.id = dictionary_.Intern(entry.text), .family = trace::FamilyOf(entry.text)};
  }
  return entry.plain;
}

const std::string& NameTable::Text(uint32_t number) const {
  static const std::string kNone;
  const auto found = entries_.find(number);
  return found == entries_.end() ? kNone : found->second.text;
}

}  // namespace nanolane::collector
