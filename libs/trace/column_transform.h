// Predictions that turn a column into small residuals, and back.
//
// A value is first taken relative to a *base* (nothing, the previous value, the event's own start,
// the previous event's end, …), then what is left is predicted within a *context* (none, the
// event's op, the op and the one before it) by a *predictor* (the last value seen in the context,
// or its running mean), and zigzagged. All arithmetic wraps modulo 2^64, so that every input
// round-trips. Memory is a fixed table per thread. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nanolane::trace {

// Stored numbers: never change.
enum class Base : uint8_t {
  kNone = 0,
  kPrevious = 1,         // value of the event before
  kStart = 2,            // start of this event
  kPreviousEnd = 3,      // value of the event before + its duration
  kPreviousLevel = 4,    // value of the event before + bytes of this event
  kPreviousCallEnd = 5,  // value of the event before + its launch duration
};
inline constexpr uint8_t kBaseCount = 6;

enum class Context : uint8_t { kNone = 0, kOp = 1, kOpPair = 2 };
inline constexpr uint8_t kContextCount = 3;

enum class Predictor : uint8_t { kLast = 0, kMean = 1 };
inline constexpr uint8_t kPredictorCount = 2;

struct Transform {
  Base base = Base::kNone;
  Context context = Context::kNone;
  Predictor predictor = Predictor::kLast;

  bool operator==(const Transform&) const = default;
};

// Other columns of the same events that transforms look at; those not needed may be empty.
struct Neighbours {
  std::span<const int64_t> start_ns;
  std::span<const int64_t> duration_ns;
  std::span<const int64_t> launch_duration_ns;
  std::span<const int64_t> bytes;
};

// For each event the context that its op, and its op with the one before, fall into. Contexts that
// collide share a prediction: worse, not wrong.
struct ContextSlots {
  std::vector<uint16_t> of_op;
  std::vector<uint16_t> of_pair;

  explicit ContextSlots(std::span<const uint32_t> ops);
};

// Residuals of values[0..n) under `transform`. All spans have equal sizes (slots and neighbours at
// least that).
void Predict(std::span<const uint64_t> values, const Transform& transform,
             const Neighbours& neighbours, const ContextSlots& slots,
             std::span<uint64_t> residuals);

// Inverse of Predict.
void Unpredict(std::span<const uint64_t> residuals, const Transform& transform,
               const Neighbours& neighbours, const ContextSlots& slots, std::span<uint64_t> values);

// The op column, whose context can only be the ops before each event: with Context::kOpPair the two
// before it, else none; base kNone, predictor kLast.
void PredictOps(std::span<const uint32_t> ops, Context context, std::span<uint64_t> residuals);
void UnpredictOps(std::span<const uint64_t> residuals, Context context, std::span<uint32_t> ops);

}  // namespace nanolane::trace
