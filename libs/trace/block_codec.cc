#include "libs/trace/block_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/block_header.h"
#include "libs/trace/byte_planes.h"
#include "libs/trace/column_transform.h"
#include "libs/trace/little_endian.h"

namespace nanolane::trace {
namespace {

// Transforms are chosen on this many events: enough to tell them apart.
constexpr size_t kTrialEvents = 768;

// The value that a missing column stands for.
uint64_t DefaultOf(Column column) {
  switch (column) {
    case Column::kLaunchStart: return static_cast<uint64_t>(kNoTime);
    case Column::kLevel:
    case Column::kReserved: return static_cast<uint64_t>(kNoLevel);
    default: return 0;
  }
}

// Transforms worth trying, by column (the op column has its own way).
std::span<const Transform> Candidates(Column column) {
  using T = Transform;
  constexpr Base kNone = Base::kNone;
  constexpr Base kPrevious = Base::kPrevious;
  constexpr Base kEnd = Base::kPreviousEnd;
  constexpr Context kAny = Context::kNone;
  constexpr Context kOp = Context::kOp;
  constexpr Context kPair = Context::kOpPair;
  constexpr Predictor kLast = Predictor::kLast;
  constexpr Predictor kMean = Predictor::kMean;
  static constexpr std::array kTimeCandidates = {T{kPrevious, kAny, kLast},  T{kEnd, kAny, kLast},
                                                 T{kPrevious, kOp, kMean},   T{kEnd, kOp, kMean},
                                                 T{kPrevious, kPair, kMean}, T{kEnd, kPair, kMean},
                                                 T{kEnd, kPair, kLast}};
  static constexpr std::array kLaunchCandidates = {
      T{kPrevious, kAny, kLast},    T{kPrevious, kPair, kMean},
      T{Base::kStart, kAny, kLast}, T{Base::kStart, kAny, kMean},
      T{Base::kStart, kOp, kMean},  T{Base::kPreviousCallEnd, kPair, kMean}};
  static constexpr std::array kPerOpCandidates = {
      T{kNone, kAny, kLast},  T{kNone, kOp, kLast},   T{kNone, kOp, kMean},
      T{kNone, kPair, kMean}, T{kNone, kPair, kLast}, T{kPrevious, kAny, kLast}};
  static constexpr std::array kIdCandidates = {T{kPrevious, kAny, kLast},
                                               T{kPrevious, kPair, kLast}, T{kNone, kPair, kLast},
                                               T{kNone, kAny, kLast}};
  static constexpr std::array kLevelCandidates = {T{Base::kPreviousLevel, kAny, kLast},
                                                  T{kPrevious, kAny, kLast}};
  switch (column) {
    case Column::kStart: return kTimeCandidates;
    case Column::kLaunchStart: return kLaunchCandidates;
    case Column::kDuration:
    case Column::kLaunchDuration:
    case Column::kBytes: return kPerOpCandidates;
    case Column::kLevel: return kLevelCandidates;
    default: return kIdCandidates;
  }
}

// Columns by number as 64-bit patterns, in the order in which they are decoded: a transform looks
// only at columns before its own.
constexpr std::array<Column, kMaxColumn> kColumnOrder = {
    Column::kOp,          Column::kDuration, Column::kStart,   Column::kLaunchDuration,
    Column::kLaunchStart, Column::kStack,    Column::kThread,  Column::kCorrelation,
    Column::kGraphNode,   Column::kBytes,    Column::kAddress, Column::kPool,
    Column::kLevel,       Column::kReserved};

template <typename Columns, typename Function>
void VisitColumn(Columns& events, Column column, Function function) {
  switch (column) {
    case Column::kOp: function(events.op); break;
    case Column::kStart: function(events.start_ns); break;
    case Column::kDuration: function(events.duration_ns); break;
    case Column::kLaunchStart: function(events.launch_start_ns); break;
    case Column::kLaunchDuration: function(events.launch_duration_ns); break;
    case Column::kStack: function(events.stack); break;
    case Column::kThread: function(events.thread); break;
    case Column::kCorrelation: function(events.correlation); break;
    case Column::kGraphNode: function(events.graph_node); break;
    case Column::kBytes: function(events.bytes); break;
    case Column::kAddress: function(events.address); break;
    case Column::kPool: function(events.pool); break;
    case Column::kLevel: function(events.level_bytes); break;
    case Column::kReserved: function(events.reserved_bytes); break;
  }
}

Neighbours NeighboursOf(const EventColumns& events) {
  return {.start_ns = events.start_ns,
          .duration_ns = events.duration_ns,
          .launch_duration_ns = events.launch_duration_ns,
          .bytes = events.bytes};
}

// About what the residuals will take when packed, in bits.
uint64_t EstimateBits(std::span<const uint64_t> residuals) {
  uint64_t bits = 0;
  for (const uint64_t residual : residuals) bits += static_cast<uint64_t>(std::bit_width(residual));
  return bits;
}

Transform ChooseTransform(std::span<const uint64_t> values, Column column,
                          const Neighbours& neighbours, const ContextSlots& slots) {
  const std::span<const Transform> candidates = Candidates(column);
  const size_t count = std::min(values.size(), kTrialEvents);
  std::vector<uint64_t> residuals(count);
  Transform best = candidates.front();
  uint64_t best_bits = std::numeric_limits<uint64_t>::max();
  for (const Transform& candidate : candidates) {
    Predict(values.first(count), candidate, neighbours, slots, residuals);
    const uint64_t bits = EstimateBits(residuals);
    if (bits < best_bits) {
      best_bits = bits;
      best = candidate;
    }
  }
  return best;
}

void AppendColumn(Column column, const Transform& transform, std::span<const uint64_t> residuals,
                  std::string& block) {
  block.push_back(static_cast<char>(column));
  block.push_back(static_cast<char>(transform.base));
  block.push_back(static_cast<char>(transform.context));
  block.push_back(static_cast<char>(transform.predictor));
  const size_t length_at = block.size();
  AppendLittle<uint32_t>(block, 0);
  PackPlanes(residuals, block);
  PutLittle<uint32_t>(&block[length_at], static_cast<uint32_t>(block.size() - length_at - 4));
}

// Bit widths say little about ops, whose order repeats in ways that zstd finds: both forms are
// packed, the shorter one stays.
void AppendOps(std::span<const uint32_t> ops, std::string& block) {
  std::vector<uint64_t> residuals(ops.size());
  const auto packed = [&](Context context) {
    std::string column;
    PredictOps(ops, context, residuals);
    AppendColumn(Column::kOp, {.context = context}, residuals, column);
    return column;
  };
  const std::string plain = packed(Context::kNone);
  const std::string predicted = packed(Context::kOpPair);
  block += predicted.size() < plain.size() ? predicted : plain;
}

absl::Status CheckSizes(const EventColumns& events) {
  const size_t count = events.size();
  if (count == 0) return absl::InvalidArgumentError("a block needs at least one event");
  if (count > kMaxBlockEvents) {
    return absl::InvalidArgumentError(
        base::StrCat("a block holds at most ", kMaxBlockEvents, " events, not ", count));
  }
  for (const Column column : kColumnOrder) {
    size_t size = 0;
    VisitColumn(events, column, [&](const auto& values) { size = values.size(); });
    if (size != count) {
      return absl::InvalidArgumentError(base::StrCat("column ", static_cast<int>(column), " has ",
                                                     size, " values for ", count, " events"));
    }
  }
  return absl::OkStatus();
}

// One column of a block as it was found.
struct StoredColumn {
  uint8_t number = 0;
  Transform transform;
  std::string_view packed;
};

absl::Status ReadColumn(ByteCursor& cursor, StoredColumn& column) {
  uint8_t base = 0;
  uint8_t context = 0;
  uint8_t predictor = 0;
  uint32_t length = 0;
  if (!cursor.Read(column.number) || !cursor.Read(base) || !cursor.Read(context) ||
      !cursor.Read(predictor) || !cursor.Read(length) || !cursor.ReadBytes(length, column.packed)) {
    return CorruptBlock("a column is cut short");
  }
  if (column.number > kMaxColumn) return absl::OkStatus();  // a later version's: skipped
  if (base >= kBaseCount || context >= kContextCount || predictor >= kPredictorCount) {
    return CorruptBlock("a column has an unknown transform");
  }
  column.transform = {static_cast<Base>(base), static_cast<Context>(context),
                      static_cast<Predictor>(predictor)};
  return absl::OkStatus();
}

// Whether the columns that `base` looks at come before `column` in the order of decoding.
bool BaseFits(Base base, Column column) {
  switch (base) {
    case Base::kNone:
    case Base::kPrevious: return true;
    case Base::kPreviousEnd: return column == Column::kStart;
    case Base::kStart:
      return column != Column::kOp && column != Column::kDuration && column != Column::kStart;
    case Base::kPreviousCallEnd: return column == Column::kLaunchStart;
    case Base::kPreviousLevel: return column == Column::kLevel;
  }
  return false;
}

// Columns to decode so that `wanted` can be.
ColumnSet WithDependencies(ColumnSet wanted) {
  wanted = wanted.With(Column::kOp).With(Column::kStart).With(Column::kDuration);
  if (wanted.Has(Column::kLaunchStart)) wanted = wanted.With(Column::kLaunchDuration);
  if (wanted.Has(Column::kLevel)) wanted = wanted.With(Column::kBytes);
  return wanted;
}

absl::Status DecodeOps(const StoredColumn& stored, EventColumns& out) {
  if (stored.transform.base != Base::kNone || stored.transform.predictor != Predictor::kLast ||
      stored.transform.context == Context::kOp) {
    return CorruptBlock("a transform does not fit the op column");
  }
  std::vector<uint64_t> residuals(out.op.size());
  RETURN_IF_ERROR(UnpackPlanes(stored.packed, residuals));
  UnpredictOps(residuals, stored.transform.context, out.op);
  return absl::OkStatus();
}

absl::Status DecodeColumn(const StoredColumn& stored, Column column, const ContextSlots& slots,
                          EventColumns& out) {
  const size_t count = out.op.size();
  if (!BaseFits(stored.transform.base, column))
    return CorruptBlock("a transform does not fit its column");
  std::vector<uint64_t> residuals(count);
  RETURN_IF_ERROR(UnpackPlanes(stored.packed, residuals));
  std::vector<uint64_t> values(count);
  Unpredict(residuals, stored.transform, NeighboursOf(out), slots, values);
  VisitColumn(out, column, [&](auto& target) {
    using Value = typename std::remove_reference_t<decltype(target)>::value_type;
    target.resize(count);
    for (size_t i = 0; i < count; ++i) target[i] = static_cast<Value>(values[i]);
  });
  return absl::OkStatus();
}

void AppendTo(EventColumns& from, ColumnSet columns, EventColumns& out) {
  for (const Column column : kColumnOrder) {
    if (!columns.Has(column)) continue;
    VisitColumn(from, column, [&](auto& source) {
      VisitColumn(out, column, [&](auto& target) {
        if constexpr (std::is_same_v<decltype(source), decltype(target)>) {
          if (target.empty()) {
            target = std::move(source);
          } else {
            target.insert(target.end(), source.begin(), source.end());
          }
        }
      });
    });
  }
}

}  // namespace

absl::StatusOr<std::string> EncodeBlock(const EventColumns& events, const EncodeOptions& options) {
  RETURN_IF_ERROR(CheckSizes(events));
  std::string block(kBlockHeaderBytes, '\0');
  block.reserve(kBlockHeaderBytes + events.size() * 16);
  uint32_t column_count = 0;
  std::vector<uint64_t> values(events.size());
  std::vector<uint64_t> residuals(events.size());
  const ContextSlots slots(events.op);
  const Neighbours neighbours = NeighboursOf(events);
  for (const Column column : kColumnOrder) {
    const uint64_t missing = DefaultOf(column);
    bool all_default = true;
    VisitColumn(events, column, [&](const auto& source) {
      for (size_t i = 0; i < source.size(); ++i) {
        values[i] = static_cast<uint64_t>(source[i]);
        all_default = all_default && values[i] == missing;
      }
    });
    if (all_default) continue;
    ++column_count;
    if (column == Column::kOp) {
      AppendOps(events.op, block);
      continue;
    }
    const Transform transform = ChooseTransform(values, column, neighbours, slots);
    Predict(values, transform, neighbours, slots, residuals);
    AppendColumn(column, transform, residuals, block);
  }
  WriteBlockHeader(DescribeBlock(events, options), column_count, block);
  return block;
}

absl::Status DecodeBlock(std::string_view block, ColumnSet columns, EventColumns& out) {
  ASSIGN_OR_RETURN(const BlockHeader header, ReadBlockHeader(block));
  const auto column_count = ColumnCountOf(block);
  std::array<const StoredColumn*, kMaxColumn + 1> found{};
  std::array<StoredColumn, kMaxColumn + 1> stored;
  ByteCursor cursor(block.substr(kBlockHeaderBytes));
  for (uint32_t i = 0; i < column_count; ++i) {
    StoredColumn column;
    RETURN_IF_ERROR(ReadColumn(cursor, column));
    if (column.number == 0 || column.number > kMaxColumn) continue;
    if (found[column.number] != nullptr) return CorruptBlock("a column stands twice");
    stored[column.number] = column;
    found[column.number] = &stored[column.number];
  }
  if (!cursor.empty()) return CorruptBlock("bytes follow the last column");

  const ColumnSet wanted = columns.With(Column::kOp).With(Column::kStart).With(Column::kDuration);
  const ColumnSet needed = WithDependencies(columns);
  EventColumns decoded;
  decoded.op.resize(header.event_count);
  if (const StoredColumn* ops = found[static_cast<size_t>(Column::kOp)]; ops != nullptr) {
    RETURN_IF_ERROR(DecodeOps(*ops, decoded));
  }
  const ContextSlots slots(decoded.op);
  for (const Column column : kColumnOrder) {
    if (column == Column::kOp || !needed.Has(column)) continue;
    const StoredColumn* source = found[static_cast<size_t>(column)];
    if (source != nullptr) {
      RETURN_IF_ERROR(DecodeColumn(*source, column, slots, decoded));
      continue;
    }
    VisitColumn(decoded, column, [&](auto& target) {
      using Value = typename std::remove_reference_t<decltype(target)>::value_type;
      target.assign(header.event_count, static_cast<Value>(DefaultOf(column)));
    });
  }
  AppendTo(decoded, wanted, out);
  return absl::OkStatus();
}

}  // namespace nanolane::trace
