// Integer nanoseconds to and from the durations and timestamps of protobuf. Pure.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>

namespace nanolane::cli {

inline constexpr int64_t kSecondNs = 1'000'000'000;

inline google::protobuf::Duration ToProtoDuration(int64_t ns) {
  google::protobuf::Duration duration;
  duration.set_seconds(ns / kSecondNs);
  duration.set_nanos(static_cast<int32_t>(ns % kSecondNs));
  return duration;
}

inline int64_t ToNanos(const google::protobuf::Duration& duration) {
  return duration.seconds() * kSecondNs + duration.nanos();
}

// Unix time.
inline int64_t ToNanos(const google::protobuf::Timestamp& time) {
  return time.seconds() * kSecondNs + time.nanos();
}

}  // namespace nanolane::cli
