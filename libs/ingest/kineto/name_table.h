// Texts of a trace, each kept once, as dense ids from 1. Id 0 is "".
//
// Bounded: texts beyond kMaxTextBytes are cut, and once kMaxTableBytes are kept, further texts all
// become one placeholder. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace nanolane::ingest::kineto {

using NameId = uint32_t;

class NameTable {
 public:
  static constexpr size_t kMaxTextBytes = 64 << 10;
  static constexpr size_t kMaxTableBytes = 128 << 20;

  NameTable();

  // `text` is valid UTF-8. O(length).
  NameId Intern(std::string_view text);
  std::string_view Text(NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }
  // Texts that became the placeholder.
  uint64_t refused() const { return refused_; }

 private:
  struct Slot {
    uint64_t hash = 0;
    NameId id = 0;  // 0: free
  };
  void Grow();
  std::string_view Keep(std::string_view text);

  std::vector<Slot> slots_;  // open addressing; a power of two
  std::vector<std::string_view> texts_;
  std::deque<std::vector<char>> pages_;
  size_t page_left_ = 0;
  size_t bytes_ = 0;
  uint64_t refused_ = 0;
  NameId placeholder_ = 0;
};

}  // namespace nanolane::ingest::kineto
