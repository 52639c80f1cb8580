#include "libs/ingest/kineto/name_table.h"

#include <xxhash.h>

#include <algorithm>

#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

constexpr size_t kFirstSlots = 4'096;
constexpr size_t kPageBytes = 256 << 10;
static_assert(kPageBytes >= NameTable::kMaxTextBytes);

}  // namespace

NameTable::NameTable() : slots_(kFirstSlots), texts_(1) {
  placeholder_ = Intern("(too many different names)");
}

std::string_view NameTable::Keep(std::string_view text) {
  if (text.size() > page_left_) {
    pages_.emplace_back(kPageBytes);
    page_left_ = kPageBytes;
  }
  char* at = pages_.back().data() + (kPageBytes - page_left_);
  std::copy_n(text.data(), text.size(), at);
  page_left_ -= text.size();
  bytes_ += text.size();
  return {at, text.size()};
}

void NameTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == 0) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].id != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

NameId NameTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  text = CutText(text, kMaxTextBytes);
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i].id != 0; i = (i + 1) & mask) {
    if (slots_[i].hash == hash && texts_[slots_[i].id] == text) return slots_[i].id;
  }
  if (bytes_ + text.size() > kMaxTableBytes) {
    ++refused_;
    return placeholder_;
  }
  const auto id = static_cast<NameId>(texts_.size());
  texts_.push_back(Keep(text));
  slots_[i] = {.hash = hash, .id = id};
  if (texts_.size() * 2 > slots_.size()) Grow();
  return id;
}

}  // namespace nanolane::ingest::kineto
