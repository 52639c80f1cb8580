// Variable-length integers in byte strings, and the bounds-checked reader of hostile ones, whose
// failure sticks: read on, then ask ok() once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libs/trace/little_endian.h"

namespace nanolane::timeline {

// Seven bits a byte, the lowest first; 1 … 10 bytes.
inline void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
  out.push_back(static_cast<char>(value));
}

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63U);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1U) ^ (0 - (value & 1U)));
}

class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  uint8_t Byte() {
    if (at_ == end_) return Fail(), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
  }

  uint64_t Fixed64() {
    if (remaining() < sizeof(uint64_t)) return Fail(), 0;
    const auto value = trace::GetLittle<uint64_t>(at_);
    at_ += sizeof(uint64_t);
    return value;
  }

  uint64_t Varint() {
    const bool one_byte = at_ != end_ && static_cast<uint8_t>(*at_) < 0x80;  // as most are
    return one_byte ? static_cast<uint8_t>(*at_++) : LongVarint();
  }

  std::string_view Bytes(size_t count) {
    if (remaining() < count) return Fail(), std::string_view();
    const std::string_view bytes(at_, count);
    at_ += count;
    return bytes;
  }

 private:
  uint64_t LongVarint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = Byte();
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    return Fail(), 0;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace nanolane::timeline
