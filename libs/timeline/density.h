// Where data lies in time: events, busy time and losses in power-of-two bins, kept while events
// arrive, however many they are.
//
// A bin of level L covers [index << L, (index + 1) << L) ns. A pyramid keeps three levels, each 16
// times as coarse as the one below it, so that a reader of any resolution finds one that is not far
// finer than asked. The finest level becomes coarser whenever more than kMostBins of its bins hold
// something: memory is bounded whatever the extent, and two far clusters do not cost what lies
// between them. Everything is a sum, hence exact and independent of the order of arrival.
//
// Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "libs/trace/kinds.h"

namespace nanolane::timeline {

struct DensityBin {
  struct Cell {
    uint64_t events = 0;   // that start in the bin
    uint64_t busy_ns = 0;  // summed parts of spans in the bin: what runs at once adds up; saturates
  };
  std::array<Cell, trace::kEventKindCount> kinds = {};
  uint64_t losses = 0;

  void Add(const DensityBin& other);
  bool operator==(const DensityBin& other) const;
};

// Bins of one level by index; empty ones are absent.
using DensityBins = std::map<int64_t, DensityBin>;

// The bins of `level` in those of the coarser `to_level`, added.
void AddCoarser(const DensityBins& bins, int level, int to_level, DensityBins& to);

class DensityPyramid {
 public:
  static constexpr int kFinestLevel = 20;  // about 1 ms
  static constexpr int kCoarsestLevel = 62;
  static constexpr int kLevels = 3;
  static constexpr int kLevelStep = 4;
  static constexpr size_t kMostBins = 2'048;
  static constexpr int kRowBins = 64;  // bins that are stored together

  // A row of stored bins.
  struct RowKey {
    int level = 0;
    int64_t row = 0;  // index of its first bin / kRowBins, rounded down
    auto operator<=>(const RowKey&) const = default;
  };

  DensityPyramid();

  // Adds events of one kind or many; parallel arrays. Times saturate at int64's ends.
  void Add(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns,
           std::span<const trace::EventKind> kind);
  void AddLosses(int64_t time_ns, uint64_t count);

  int finest_level() const { return levels_.front().level; }
  // Number 0 … kLevels - 1, finest first.
  int level(int number) const { return levels_[static_cast<size_t>(number)].level; }
  const DensityBins& bins(int number) const { return levels_[static_cast<size_t>(number)].bins; }

  // Rows that differ from what was taken last, in order. A row without bins was emptied.
  std::set<RowKey> TakeChangedRows();
  // The bins of a row; empty when there are none.
  DensityBins RowOf(const RowKey& key) const;

  // Puts back what RowOf() gave, row by row, into a new pyramid whose levels begin at `finest`.
  static DensityPyramid Restore(int finest, const std::map<RowKey, DensityBins>& rows);

 private:
  struct Level {
    int level = 0;
    DensityBins bins;
  };

  void AddSpan(Level& to, int64_t start_ns, int64_t end_ns, trace::EventKind kind);
  DensityBin& Touch(Level& level, int64_t index);
  void CoarsenFor(int64_t start_ns, int64_t end_ns);
  void Coarsen();

  std::array<Level, kLevels> levels_;
  std::set<RowKey> changed_;
  // The bin touched last of each level: events of a block mostly stay in one.
  struct Last {
    int64_t index = 0;
    DensityBin* bin = nullptr;
  };
  std::array<Last, kLevels> last_ = {};
};

// The coarsest of the levels `finest`, + kLevelStep, … that is not coarser than `wanted`; the
// finest when all are.
int LevelToRead(int finest, int wanted);

}  // namespace nanolane::timeline
