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
    if (cells_.size() >= count) return;
    cells_.resize(count);
    touched_.resize(count + 1);
  }

  // Adds to a label, which is then present, even by 0. Weights wrap modulo 2^64: the spans of a
  // disjoint row never sum up to more. Without a branch, which would be hard to predict.
  void Add(uint32_t label, uint64_t weight) {
    Cell& cell = cells_[label];
    touched_[size_] = label;
    size_ += cell.absent;
    cell.absent = 0;
    cell.weight += weight;
  }

  // As Add() of label(i), weight(i) for each i below the count. What changes is held in registers,
  // as members would not be.
  template <typename LabelOf, typename WeightOf>
  void AddMany(size_t count, LabelOf label_of, WeightOf weight_of) {
    Cell* const cells = cells_.data();
    uint32_t* const touched = touched_.data();
    size_t size = size_;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t label = label_of(i);
      Cell& cell = cells[label];
      touched[size] = label;
      size += cell.absent;
      cell.absent = 0;
      cell.weight += weight_of(i);
    }
    size_ = size;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Calls visit(label, weight) for each label that is present, in order of its first Add(), and
  // empties the tally.
  template <typename Visit>
  void Drain(Visit visit) {
    for (size_t i = 0; i < size_; ++i) {
      const uint32_t label = touched_[i];
      visit(label, cells_[label].weight);
      cells_[label] = Cell();
    }
    size_ = 0;
    longest = Longest();
  }

  void Clear() {
    Drain([](uint32_t, uint64_t) {});
  }

  Longest longest;

 private:
  struct Cell {
    uint64_t weight = 0;
    uint64_t absent = 1;  // 0: the label is among the touched ones
  };

  std::vector<Cell> cells_;
  std::vector<uint32_t> touched_ = std::vector<uint32_t>(1);  // one more than there can be
  size_t size_ = 0;
};

}  // namespace nanolane::timeline
