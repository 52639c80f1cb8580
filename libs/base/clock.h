// The time of day and the monotonic time, behind an interface so that tests own both.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanolane::base {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t UnixNanos() const = 0;       // ns since 1970-01-01 UTC; may step
  virtual int64_t MonotonicNanos() const = 0;  // ns since an unknown point; never steps
};

class SystemClock final : public Clock {
 public:
  int64_t UnixNanos() const override;
  int64_t MonotonicNanos() const override;
};

// Stands still until a test moves it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t now_ns = 0) : now_ns_(now_ns) {}
  int64_t UnixNanos() const override { return now_ns_; }
  int64_t MonotonicNanos() const override { return now_ns_; }
  void Advance(int64_t by_ns) { now_ns_ += by_ns; }

 private:
  std::atomic<int64_t> now_ns_;
};

}  // namespace nanolane::base
