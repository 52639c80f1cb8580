// What is summed up for one column while a row is read: weights by label in a dense array with a
// list of those touched, so that emptying it costs what was put in, and the longest event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nanolane::timeline {

// The longest of some events; of several the earliest, then the one with the lowest label.
struct Longest {
  uint64_t length = 0;
  int64_t start_ns = 0;
  uint32_t label = 0;
  bool any = false;

  bool BetterThan(const Longest& other) const {
    if (!any || !other.any) return any;
    if (length != other.length) return length > other.length;
    if (start_ns != other.start_ns) return start_ns < other.start_ns;
    return label < other.label;
  }
  void Include(const Longest& other) {
    if (other.BetterThan(*this)) *this = other;
  }
};

class LabelTally {
 public:
  // For labels below `count`; keeps what it holds.
  void Reserve(size_t count) {
    if (cells_.size() < count) cells_.resize(count);
  }

  // Adds to a label, which is then present, even by 0. Weights wrap modulo 2^64: the spans of a
  // disjoint row never sum up to more.
  void Add(uint32_t label, uint64_t weight) {
    Cell& cell = cells_[label];
    if (!cell.touched) {
      cell.touched = true;
      touched_.push_back(label);
    }
    cell.weight += weight;
  }

  bool empty() const { return touched_.empty(); }
  size_t size() const { return touched_.size(); }

  // Calls visit(label, weight) for each label that is present, in order of its first Add(), and
  // empties the tally.
  template <typename Visit>
  void Drain(Visit visit) {
    for (const uint32_t label : touched_) {
      visit(label, cells_[label].weight);
      cells_[label] = Cell();
    }
    touched_.clear();
    longest = Longest();
  }

  Longest longest;

 private:
  struct Cell {
    uint64_t weight = 0;
    bool touched = false;
  };

  std::vector<Cell> cells_;
  std::vector<uint32_t> touched_;
};

}  // namespace nanolane::timeline
