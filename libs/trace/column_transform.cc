#include "libs/trace/column_transform.h"

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace nanolane::trace {
namespace {

// On disk: never change.
constexpr int kTableBits = 12;
constexpr size_t kTableSize = size_t{1} << kTableBits;

uint64_t Zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
uint64_t Unzigzag(uint64_t residual) { return (residual >> 1) ^ (0 - (residual & 1)); }

uint16_t SlotOf(uint64_t newest, uint64_t older) {
  const uint64_t key = newest | older << 32;
  return static_cast<uint16_t>((key * 0x9E3779B97F4A7C15ULL) >> (64 - kTableBits));
}

// What a context has seen. An entry of an older generation counts as empty, so that the table need
// not be cleared for each column.
struct ContextEntry {
  uint64_t value = 0;
  uint32_t count = 0;
  uint32_t generation = 0;
};

class ContextTable {
 public:
  ContextTable() : memory_(Fresh()) {}

  ContextEntry& At(uint16_t slot) {
    ContextEntry& entry = memory_.entries[slot];
    if (entry.generation != memory_.generation) {
      entry = {.value = 0, .count = 0, .generation = memory_.generation};
    }
    return entry;
  }

 private:
  struct Memory {
    std::array<ContextEntry, kTableSize> entries{};
    uint32_t generation = 0;
  };

  static Memory& Fresh() {
    thread_local const std::unique_ptr<Memory> memory = std::make_unique<Memory>();
    if (++memory->generation == 0) {  // wrapped: old stamps could be taken for new ones
      *memory = Memory();
      memory->generation = 1;
    }
    return *memory;
  }

  Memory& memory_;
};

// The running mean moves by 1/2, 1/4, then 1/8 of the error, so that it settles after a few values
// and then follows drift.
template <Predictor kPredictor>
void Learn(ContextEntry& entry, uint64_t seen) {
  if (kPredictor == Predictor::kLast || entry.count == 0) {
    entry.value = seen;
  } else {
    const int shift = entry.count >= 4 ? 3 : entry.count >= 2 ? 2 : 1;
    entry.value += static_cast<uint64_t>(static_cast<int64_t>(seen - entry.value) >> shift);
  }
  if (entry.count < 4) ++entry.count;
}

template <Base kBase>
uint64_t BaseValue(const Neighbours& n, std::span<const uint64_t> values, size_t i) {
  const auto previous = [&] { return i == 0 ? 0 : values[i - 1]; };
  if constexpr (kBase == Base::kPrevious) return previous();
  if constexpr (kBase == Base::kStart) return static_cast<uint64_t>(n.start_ns[i]);
  if constexpr (kBase == Base::kPreviousEnd) {
    return i == 0 ? 0 : values[i - 1] + static_cast<uint64_t>(n.duration_ns[i - 1]);
  }
  if constexpr (kBase == Base::kPreviousLevel) {
    return previous() + static_cast<uint64_t>(n.bytes[i]);
  }
  if constexpr (kBase == Base::kPreviousCallEnd) {
    return i == 0 ? 0 : values[i - 1] + static_cast<uint64_t>(n.launch_duration_ns[i - 1]);
  }
  return 0;
}

// Calls function(std::integral_constant<Base, base>), so that loops carry no switch.
template <typename Function>
void WithBase(Base base, Function function) {
  switch (base) {
    case Base::kNone: return function(std::integral_constant<Base, Base::kNone>());
    case Base::kPrevious: return function(std::integral_constant<Base, Base::kPrevious>());
    case Base::kStart: return function(std::integral_constant<Base, Base::kStart>());
    case Base::kPreviousEnd: return function(std::integral_constant<Base, Base::kPreviousEnd>());
    case Base::kPreviousLevel:
      return function(std::integral_constant<Base, Base::kPreviousLevel>());
    case Base::kPreviousCallEnd:
      return function(std::integral_constant<Base, Base::kPreviousCallEnd>());
  }
}

template <typename Function>
void WithPredictor(Predictor predictor, Function function) {
  if (predictor == Predictor::kMean) {
    function(std::integral_constant<Predictor, Predictor::kMean>());
  } else {
    function(std::integral_constant<Predictor, Predictor::kLast>());
  }
}

// Whether there is anything to predict: no context and the last value is what the base is for.
bool UsesTable(const Transform& transform) {
  return transform.context != Context::kNone || transform.predictor == Predictor::kMean;
}

const uint16_t* SlotsOf(Context context, const ContextSlots& slots) {
  static constexpr std::array<uint16_t, 1> kNone{};
  if (context == Context::kNone) return kNone.data();
  return context == Context::kOp ? slots.of_op.data() : slots.of_pair.data();
}

}  // namespace

ContextSlots::ContextSlots(std::span<const uint32_t> ops) : of_op(ops.size()), of_pair(ops.size()) {
  for (size_t i = 0; i < ops.size(); ++i) {
    of_op[i] = SlotOf(ops[i], 0);
    of_pair[i] = SlotOf(ops[i], i == 0 ? 0 : ops[i - 1]);
  }
}

void Predict(std::span<const uint64_t> values, const Transform& transform,
             const Neighbours& neighbours, const ContextSlots& slots,
             std::span<uint64_t> residuals) {
  WithBase(transform.base, [&](auto base) {
    for (size_t i = 0; i < values.size(); ++i) {
      residuals[i] = values[i] - BaseValue<decltype(base)::value>(neighbours, values, i);
    }
  });
  if (UsesTable(transform)) {
    const uint16_t* slot = SlotsOf(transform.context, slots);
    const size_t step = transform.context == Context::kNone ? 0 : 1;
    WithPredictor(transform.predictor, [&](auto predictor) {
      ContextTable table;
      for (size_t i = 0; i < values.size(); ++i) {
        ContextEntry& entry = table.At(slot[i * step]);
        const uint64_t seen = residuals[i];
        residuals[i] = seen - entry.value;
        Learn<decltype(predictor)::value>(entry, seen);
      }
    });
  }
  for (uint64_t& residual : residuals) residual = Zigzag(residual);
}

void Unpredict(std::span<const uint64_t> residuals, const Transform& transform,
               const Neighbours& neighbours, const ContextSlots& slots,
               std::span<uint64_t> values) {
  WithBase(transform.base, [&](auto base) {
    constexpr Base kBase = decltype(base)::value;
    if (!UsesTable(transform)) {
      for (size_t i = 0; i < residuals.size(); ++i) {
        values[i] = Unzigzag(residuals[i]) + BaseValue<kBase>(neighbours, values, i);
      }
      return;
    }
    const uint16_t* slot = SlotsOf(transform.context, slots);
    const size_t step = transform.context == Context::kNone ? 0 : 1;
    WithPredictor(transform.predictor, [&](auto predictor) {
      ContextTable table;
      for (size_t i = 0; i < residuals.size(); ++i) {
        ContextEntry& entry = table.At(slot[i * step]);
        const uint64_t seen = Unzigzag(residuals[i]) + entry.value;
        Learn<decltype(predictor)::value>(entry, seen);
        values[i] = seen + BaseValue<kBase>(neighbours, values, i);
      }
    });
  });
}

void PredictOps(std::span<const uint32_t> ops, Context context, std::span<uint64_t> residuals) {
  ContextTable table;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (context == Context::kNone) {
      residuals[i] = ops[i];
      continue;
    }
    ContextEntry& entry = table.At(SlotOf(i < 1 ? 0 : ops[i - 1], i < 2 ? 0 : ops[i - 2]));
    residuals[i] = Zigzag(ops[i] - entry.value);
    entry.value = ops[i];
  }
}

void UnpredictOps(std::span<const uint64_t> residuals, Context context, std::span<uint32_t> ops) {
  ContextTable table;
  for (size_t i = 0; i < residuals.size(); ++i) {
    if (context == Context::kNone) {
      ops[i] = static_cast<uint32_t>(residuals[i]);
      continue;
    }
    ContextEntry& entry = table.At(SlotOf(i < 1 ? 0 : ops[i - 1], i < 2 ? 0 : ops[i - 2]));
    ops[i] = static_cast<uint32_t>(Unzigzag(residuals[i]) + entry.value);
    entry.value = ops[i];
  }
}

}  // namespace nanolane::trace
