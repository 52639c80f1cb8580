// Lanes of events for tests and benchmarks: like those that real streams have, and adversarial
// ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "libs/timeline/lane_index.h"

namespace nanolane::timeline {

struct LaneEvents {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> duration_ns;
  std::vector<trace::Category> category;
  std::vector<uint32_t> name;

  size_t size() const { return start_ns.size(); }

  void Add(int64_t start, int64_t duration, trace::Category what = trace::Category::kGemm) {
    start_ns.push_back(start);
    duration_ns.push_back(duration);
    category.push_back(what);
    name.push_back(static_cast<uint32_t>(what));
  }

  SpanBatch Batch(size_t from, size_t count) const {
    return {.start_ns = std::span(start_ns).subspan(from, count),
            .duration_ns = std::span(duration_ns).subspan(from, count),
            .category = std::span(category).subspan(from, count)};
  }
  SpanBatch All() const { return Batch(0, size()); }

  LaneEvents Reordered(const std::vector<size_t>& order) const {
    LaneEvents result;
    for (const size_t i : order) {
      result.start_ns.push_back(start_ns[i]);
      result.duration_ns.push_back(duration_ns[i]);
      result.category.push_back(category[i]);
      result.name.push_back(name[i]);
    }
    return result;
  }
};

class LaneMaker {
 public:
  explicit LaneMaker(uint64_t seed) : random_(seed) {}

  // Uniform in [low, high].
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool OneIn(int64_t n) { return Int(1, n) == 1; }

  // 1 … 2^bits, each power of two equally likely.
  int64_t Log(int bits) {
    const int64_t top = int64_t{1} << Int(0, bits);
    return Int(std::max<int64_t>(top / 2, 1), top);
  }

  trace::Category AnyOf(int categories) {
    return static_cast<trace::Category>(Int(0, categories - 1));
  }

  struct StreamOptions {
    size_t events = 0;
    int64_t start_ns = 1'700'000'000'000'000'000;
    int categories = 7;
    int64_t longest_gap_ns = 4'000;
    int64_t longest_ns = 40'000;
    int64_t instant_one_in = 0;  // 0: none
    int64_t overlap_one_in = 0;
  };

  // Kernels of one stream, in order of start: gaps, some instants, some overlaps of a little.
  LaneEvents Stream(const StreamOptions& options) {
    LaneEvents events;
    int64_t now = options.start_ns;
    for (size_t i = 0; i < options.events; ++i) {
      const bool instant = options.instant_one_in > 0 && OneIn(options.instant_one_in);
      const int64_t duration = instant ? 0 : Int(1, options.longest_ns);
      const bool overlap = options.overlap_one_in > 0 && OneIn(options.overlap_one_in);
      now += overlap ? -std::min<int64_t>(Int(1, 2'000), last_duration_)
                     : Int(0, options.longest_gap_ns);
      if (!events.start_ns.empty()) now = std::max(now, events.start_ns.back());
      events.Add(now, duration, AnyOf(options.categories));
      now += duration;
      last_duration_ = duration;
    }
    return events;
  }

  std::vector<size_t> Shuffle(size_t size) {
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

  // Mostly in order: each event is at most `distance` places late.
  std::vector<size_t> Jitter(size_t size, int64_t distance) {
    std::vector<std::pair<int64_t, size_t>> keys;
    for (size_t i = 0; i < size; ++i) {
      keys.emplace_back(static_cast<int64_t>(i) + Int(0, distance), i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<size_t> order;
    order.reserve(size);
    for (const auto& [key, i] : keys) order.push_back(i);
    return order;
  }

  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
  int64_t last_duration_ = 0;
};

}  // namespace nanolane::timeline
