#include "libs/timeline/tiles/span_group.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "libs/timeline/tiles/packed_ints.h"

namespace nanolane::timeline {

namespace {

uint64_t Unsigned(int64_t time_ns) { return static_cast<uint64_t>(time_ns); }

void AppendLabels(std::span<const TileSpan> spans, std::string& out,
                  std::array<uint64_t, kGroupEvents>& numbers, size_t& label_count) {
  std::array<uint32_t, kGroupEvents> labels;
  for (size_t i = 0; i < spans.size(); ++i) labels[i] = spans[i].label;
  std::sort(labels.begin(), labels.begin() + static_cast<ptrdiff_t>(spans.size()));
  const auto end =
      std::unique(labels.begin(), labels.begin() + static_cast<ptrdiff_t>(spans.size()));
  label_count = static_cast<size_t>(end - labels.begin());
  out.push_back(static_cast<char>(label_count - 1));
  AppendVarint(out, labels[0]);
  for (size_t i = 1; i < label_count; ++i) AppendVarint(out, labels[i] - labels[i - 1] - 1);
  for (size_t i = 0; i < spans.size(); ++i) {
    numbers[i] = static_cast<uint64_t>(std::lower_bound(labels.begin(), end, spans[i].label) -
                                       labels.begin());
  }
}

}  // namespace

std::string EncodeGroup(std::span<const TileSpan> spans, RowKind kind) {
  assert(!spans.empty() && spans.size() <= kGroupEvents);
  std::string out;
  out.reserve(1536);
  out.push_back(static_cast<char>(kRowVersion));
  out.push_back(static_cast<char>(spans.size() - 1));
  trace::AppendLittle(out, Unsigned(spans.front().start_ns));
  std::array<uint64_t, kGroupEvents> numbers;
  size_t label_count = 1;
  if (kind != RowKind::kCover) AppendLabels(spans, out, numbers, label_count);
  std::array<uint64_t, kGroupEvents> values;
  for (size_t i = 1; i < spans.size(); ++i) {
    const uint64_t from =
        Unsigned(spans[i - 1].start_ns) + (kind == RowKind::kLoose ? 0 : spans[i - 1].length());
    values[i - 1] = Unsigned(spans[i].start_ns) - from;
  }
  AppendPackedInts(std::span(values).first(spans.size() - 1), out);
  for (size_t i = 0; i < spans.size(); ++i) values[i] = spans[i].length();
  AppendPackedInts(std::span(values).first(spans.size()), out);
  if (label_count > 1) AppendPackedInts(std::span(numbers).first(spans.size()), out);
  return out;
}

absl::Status SpanGroup::Decode(std::string_view bytes, RowKind kind, size_t expected) {
  BytesReader in(bytes);
  count = label_count = 0;
  if (in.Byte() != kRowVersion) return BadRow("unknown version of a group");
  const size_t found = size_t{in.Byte()} + 1;
  if (found != expected || expected > kGroupEvents) return BadRow("a group of another size");
  const uint64_t first = in.Fixed64();
  size_t found_labels = 0;
  if (kind != RowKind::kCover) {
    found_labels = size_t{in.Byte()} + 1;
    uint64_t next = 0;
    for (size_t i = 0; i < found_labels; ++i) {
      next += in.Varint() + (i > 0 ? 1 : 0);
      if (next > std::numeric_limits<uint32_t>::max()) return BadRow("a label out of range");
      labels[i] = static_cast<uint32_t>(next);
    }
  }
  std::array<uint64_t, kGroupEvents> gaps;
  ReadPackedInts(in, std::span(gaps).first(found - 1));
  ReadPackedInts(in, std::span(length).first(found));
  bool bad = false;
  if (found_labels > 1) {
    ReadPackedInts(in, std::span(label).first(found));
    uint64_t bits = 0;
    uint64_t beyond = 0;  // its top bit: a number is not below the count
    constexpr uint64_t kTop = uint64_t{1} << 63U;
    for (size_t i = 0; i < found; ++i) {
      bits |= label[i];
      beyond |= label[i] + (kTop - found_labels);
    }
    bad = bits >= kTop / 2 || beyond >= kTop;
  } else if (found_labels == 1) {
    std::fill_n(label.begin(), found, 0);
  }
  if (!in.ok() || in.remaining() != 0 || bad) return BadRow("a group does not decode");
  count = found;
  label_count = found_labels;
  if (PlaceEvents(first, kind, std::span(gaps).first(found - 1))) return absl::OkStatus();
  count = label_count = 0;
  return BadRow("times of a group are out of order");
}

bool SpanGroup::PlaceEvents(uint64_t first, RowKind kind, std::span<const uint64_t> gaps) {
  uint64_t gap_bits = 0;
  length_bits = 0;
  for (const uint64_t gap : gaps) gap_bits |= gap;
  for (size_t i = 0; i < count; ++i) length_bits |= length[i];
  uint64_t at = first;
  if (kind != RowKind::kLoose && (gap_bits | length_bits) >> 54U == 0) {
    // All together stay below 2^63, so that the last end tells whether any sum has wrapped.
    for (size_t i = 0; i < gaps.size(); ++i) {
      start_ns[i] = static_cast<int64_t>(at);
      at += length[i] + gaps[i];
    }
    start_ns[gaps.size()] = static_cast<int64_t>(at);
    return EndOf(gaps.size()) >= start_ns[0];
  }
  // Sums that wrap come out lower than what they started from.
  bool good = true;
  for (size_t i = 0;; ++i) {
    start_ns[i] = static_cast<int64_t>(at);
    good &= EndOf(i) >= start_ns[i];
    if (i == gaps.size()) return good;
    const uint64_t from = kind == RowKind::kLoose ? at : at + length[i];
    at = from + gaps[i];
    good &= static_cast<int64_t>(at) >= static_cast<int64_t>(from);
  }
}

}  // namespace nanolane::timeline
