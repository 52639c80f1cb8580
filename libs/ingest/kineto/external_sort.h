// Sorts more records than fit in memory: sorted runs of fixed-size records go to a temporary file
// once a budget is used up, and are merged while they are read. What fits is never written.
//
// Stable: equal records come in the order in which they were added. O(n log n) comparisons,
// sequential I/O; memory: the budget, and half of it more while a run is sorted. A sorter may be
// read several times. Thread-compatible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/status_macros.h"
#include "libs/ingest/kineto/spill_file.h"

namespace nanolane::ingest::kineto {

template <typename Record, typename Less>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  struct Options {
    size_t memory_bytes = 32 << 20;
    std::string spill_dir;
  };

  // Reads the records in order. Belongs to a sorter that has ended and outlives it.
  class Reader;

  explicit ExternalSorter(Options options) : options_(std::move(options)) {}

  // Errors of the spill file are kept and returned by End.
  void Add(const Record& record) {
    if (records_.size() == records_.capacity()) MakeRoom();
    if (status_.ok()) records_.push_back(record);
  }

  // No Add may follow.
  absl::Status End() {
    if (status_.ok()) {
      Sort();
      if (!runs_.empty()) Spill();
    }
    return status_;
  }

  uint64_t size() const { return spilled_ + records_.size(); }
  bool spilled() const { return spilled_ > 0; }

 private:
  struct Run {
    uint64_t offset = 0;
    uint64_t records = 0;
  };

  void MakeRoom() {
    constexpr size_t kFirst = 1'024;
    const size_t most = std::max(kFirst, options_.memory_bytes / sizeof(Record));
    if (records_.size() >= most) {
      Spill();
    } else {
      records_.reserve(std::min(most, std::max(kFirst, records_.size() * 2)));
    }
  }

  void Sort() {
    // Traces are mostly in order already.
    if (!std::is_sorted(records_.begin(), records_.end(), Less())) {
      std::stable_sort(records_.begin(), records_.end(), Less());
    }
  }

  void Spill() {
    if (records_.empty()) return;
    Sort();
    if (!file_.has_value()) {
      absl::StatusOr<SpillFile> file = SpillFile::Create(options_.spill_dir);
      status_ = file.status();
      if (!status_.ok()) return;
      file_ = *std::move(file);
    }
    const Run run = {.offset = file_->size(), .records = records_.size()};
    status_ = file_->Append(records_.data(), records_.size() * sizeof(Record));
    if (!status_.ok()) return;
    runs_.push_back(run);
    spilled_ += run.records;
    records_.clear();
  }

  const Options options_;
  absl::Status status_;
  std::vector<Record> records_;
  std::optional<SpillFile> file_;
  std::vector<Run> runs_;
  uint64_t spilled_ = 0;
};

template <typename Record, typename Less>
class ExternalSorter<Record, Less>::Reader {
 public:
  explicit Reader(const ExternalSorter& sorter) : sorter_(sorter) {
    if (!sorter.file_.has_value()) {
      in_memory_ = sorter.records_.data();
      in_memory_end_ = in_memory_ + sorter.records_.size();
      return;
    }
    const size_t share = sorter.options_.memory_bytes / sorter.runs_.size() / sizeof(Record);
    for (const Run& run : sorter.runs_) {
      Cursor cursor;
      cursor.next_offset = run.offset;
      cursor.left = run.records;
      cursor.buffer.resize(std::clamp<size_t>(share, 64, 16'384));
      cursors_.push_back(std::move(cursor));
    }
    for (size_t i = 0; i < cursors_.size(); ++i) {
      if (Load(cursors_[i])) heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), After{*this});
  }

  // The next record; null at the end, or after an error of the spill file (see status).
  const Record* Peek() const {
    if (in_memory_ != nullptr) return in_memory_ != in_memory_end_ ? in_memory_ : nullptr;
    return heap_.empty() ? nullptr : &cursors_[heap_.front()].Front();
  }

  // Only where Peek is not null.
  void Pop() {
    if (in_memory_ != nullptr) {
      ++in_memory_;
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), After{*this});
    Cursor& cursor = cursors_[heap_.back()];
    ++cursor.position;
    if (cursor.position == cursor.filled && !Load(cursor)) {
      heap_.pop_back();
      if (!status_.ok()) heap_.clear();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), After{*this});
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  struct Cursor {
    const Record& Front() const { return buffer[position]; }

    std::vector<Record> buffer;
    size_t position = 0;
    size_t filled = 0;
    uint64_t next_offset = 0;
    uint64_t left = 0;
  };

  // Order of a heap with the least record at its front; runs are in the order of adding.
  struct After {
    bool operator()(size_t a, size_t b) const {
      const Record& left = reader.cursors_[a].Front();
      const Record& right = reader.cursors_[b].Front();
      if (Less()(right, left)) return true;
      return a > b && !Less()(left, right);
    }
    const Reader& reader;
  };

  // False: the run has ended, or an error.
  bool Load(Cursor& cursor) {
    cursor.position = 0;
    cursor.filled = static_cast<size_t>(std::min<uint64_t>(cursor.left, cursor.buffer.size()));
    if (cursor.filled == 0) return false;
    const size_t bytes = cursor.filled * sizeof(Record);
    status_ = sorter_.file_->ReadAt(cursor.next_offset, cursor.buffer.data(), bytes);
    if (!status_.ok()) return false;
    cursor.next_offset += bytes;
    cursor.left -= cursor.filled;
    return true;
  }

  const ExternalSorter& sorter_;
  const Record* in_memory_ = nullptr;
  const Record* in_memory_end_ = nullptr;
  std::vector<Cursor> cursors_;
  std::vector<size_t> heap_;
  absl::Status status_;
};

}  // namespace nanolane::ingest::kineto
