#include "libs/timeline/tiles/packed_ints.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

namespace nanolane::timeline {

namespace {

constexpr size_t kSlack = 16;  // readable bytes that the unpacking wants behind the packed ones

size_t PackedSize(size_t count, unsigned bits) { return (count * bits + 7) / 8; }

uint64_t LowBits(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// The number of bits that makes the whole smallest, from how many values have each width.
unsigned BestBits(const std::array<uint16_t, 65>& count_of_width, size_t count) {
  std::array<unsigned, 65> widths;
  size_t width_count = 0;
  for (unsigned width = 0; width <= 64; ++width) {
    if (count_of_width[width] != 0) widths[width_count++] = width;
  }
  unsigned best = 64;
  size_t best_size = SIZE_MAX;
  const unsigned least = widths[0];
  const unsigned greatest = widths[width_count - 1];
  for (unsigned bits = least; bits <= greatest; ++bits) {
    size_t size = PackedSize(count, bits);
    for (size_t i = 0; i < width_count; ++i) {
      if (widths[i] <= bits) continue;
      size += count_of_width[widths[i]] * (1 + (widths[i] - bits + 6) / 7);
    }
    if (size < best_size) {
      best_size = size;
      best = bits;
    }
  }
  return best;
}

void Pack(std::span<const uint64_t> values, uint64_t base, unsigned bits, std::string& out) {
  if (bits == 0) return;
  const size_t at = out.size();
  out.resize(at + PackedSize(values.size(), bits));
  char* to = out.data() + at;
  uint64_t pending = 0;
  unsigned held = 0;
  const uint64_t mask = LowBits(bits);
  for (const uint64_t value : values) {
    const uint64_t low = (value - base) & mask;
    pending |= low << held;
    if (held + bits >= 64) {
      trace::PutLittle(to, pending);
      to += 8;
      pending = held == 0 ? 0 : low >> (64 - held);
      held = held + bits - 64;
    } else {
      held += bits;
    }
  }
  std::memcpy(to, &pending, (held + 7) / 8);
}

// Eight values of a fixed width at a time, which take as many bytes as each has bits.
template <unsigned kBits>
void UnpackEights(const char* from, uint64_t base, size_t eights, uint64_t* to) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  for (size_t i = 0; i < eights; ++i, from += kBits, to += 8) {
    [&]<unsigned... kPlace>(std::integer_sequence<unsigned, kPlace...>) {
      ((to[kPlace] = base + ((trace::GetLittle<uint64_t>(from + kPlace * kBits / 8) >>
                              (kPlace * kBits % 8)) &
                             kMask)),
       ...);
    }
    (std::make_integer_sequence<unsigned, 8>());
  }
}

using UnpackFunction = void (*)(const char*, uint64_t, size_t, uint64_t*);
// By width, up to the widest that one load of 64 bits holds wherever it starts in a byte.
constexpr size_t kUnpackWidths = 58;
constexpr auto kUnpack = []<unsigned... kBits>(std::integer_sequence<unsigned, kBits...>) {
  return std::array<UnpackFunction, sizeof...(kBits)>{UnpackEights<kBits>...};
}
(std::make_integer_sequence<unsigned, kUnpackWidths>());

// Reads kSlack bytes past the packed ones.
void Unpack(const char* from, uint64_t base, unsigned bits, std::span<uint64_t> values) {
  const uint64_t mask = LowBits(bits);
  size_t bit = 0;
  if (bits < kUnpackWidths) {
    const size_t eights = values.size() / 8;
    kUnpack[bits](from, base, eights, values.data());
    bit = eights * 8 * bits;
    for (uint64_t& value : values.subspan(eights * 8)) {
      value = base + ((trace::GetLittle<uint64_t>(from + bit / 8) >> (bit % 8)) & mask);
      bit += bits;
    }
    return;
  }
  for (uint64_t& value : values) {
    const auto low = trace::GetLittle<uint64_t>(from + bit / 8) >> (bit % 8);
    const uint64_t high = static_cast<uint8_t>(from[bit / 8 + 8]);
    value = base + ((bit % 8 == 0 ? low : low | high << (64 - bit % 8)) & mask);
    bit += bits;
  }
}

}  // namespace

void AppendPackedInts(std::span<const uint64_t> values, std::string& out) {
  assert(values.size() <= kMaxPackedInts);
  if (values.empty()) return;
  const uint64_t base = *std::min_element(values.begin(), values.end());
  std::array<uint16_t, 65> count_of_width = {};
  for (const uint64_t value : values) {
    ++count_of_width[static_cast<size_t>(std::bit_width(value - base))];
  }
  const unsigned bits = BestBits(count_of_width, values.size());
  out.push_back(static_cast<char>(bits));
  AppendVarint(out, base);
  std::array<uint8_t, kMaxPackedInts> exceptions;
  size_t exception_count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] - base > LowBits(bits)) exceptions[exception_count++] = static_cast<uint8_t>(i);
  }
  // At least one value equals the base, so that the count fits.
  out.push_back(static_cast<char>(exception_count));
  for (size_t i = 0; i < exception_count; ++i) out.push_back(static_cast<char>(exceptions[i]));
  for (size_t i = 0; i < exception_count; ++i) {
    AppendVarint(out, (values[exceptions[i]] - base) >> bits);
  }
  Pack(values, base, bits, out);
}

void ReadPackedInts(BytesReader& in, std::span<uint64_t> values) {
  assert(values.size() <= kMaxPackedInts);
  if (values.empty()) return;
  const unsigned bits = in.Byte();
  const uint64_t base = in.Varint();
  const std::string_view exceptions = in.Bytes(in.Byte());
  std::array<uint64_t, kMaxPackedInts> high;
  for (size_t i = 0; i < exceptions.size(); ++i) high[i] = in.Varint();
  if (bits > 64 || (bits == 64 && !exceptions.empty())) in.Fail();
  const std::string_view packed = in.Bytes(PackedSize(values.size(), bits));
  if (!in.ok()) return std::fill(values.begin(), values.end(), 0);
  if (bits == 0) {
    std::fill(values.begin(), values.end(), base);
  } else if (in.remaining() >= kSlack) {
    Unpack(packed.data(), base, bits, values);
  } else {
    std::array<char, kMaxPackedInts * 8 + kSlack> padded;
    std::memcpy(padded.data(), packed.data(), packed.size());
    std::memset(padded.data() + packed.size(), 0, kSlack);
    Unpack(padded.data(), base, bits, values);
  }
  for (size_t i = 0; i < exceptions.size(); ++i) {
    const auto at = static_cast<uint8_t>(exceptions[i]);
    if (at >= values.size()) return in.Fail();
    values[at] += high[i] << bits;
  }
}

}  // namespace nanolane::timeline
