#include "libs/ingest/kineto/decimal.h"

#include <algorithm>
#include <limits>

namespace nanolane::ingest::kineto {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kMaxMagnitude = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMaxInt64 = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number as sign · digits · 10^exponent, its digits still text.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;

  size_t digits() const { return whole.size() + fraction.size(); }
  char Digit(size_t i) const { return i < whole.size() ? whole[i] : fraction[i - whole.size()]; }
};

std::string_view TakeDigits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool TakeSign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

bool Split(std::string_view text, Decimal& out) {
  out.negative = TakeSign(text);
  out.whole = TakeDigits(text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    out.fraction = TakeDigits(text);
  }
  if (out.digits() == 0) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  const bool negative = TakeSign(text);
  const std::string_view digits = TakeDigits(text);
  if (digits.empty() || !text.empty()) return false;
  constexpr int64_t kFarOut = 1'000'000'000;  // more than any text has digits
  int64_t exponent = 0;
  for (const char c : digits) exponent = std::min(kFarOut, exponent * 10 + (c - '0'));
  out.exponent = negative ? -exponent : exponent;
  return true;
}

// |number| · 10^shift, saturated; rounded half up or cut off.
uint64_t Scale(const Decimal& number, int shift, bool round) {
  // Digits in front of the decimal point once it has moved.
  const int64_t point = static_cast<int64_t>(number.whole.size()) + number.exponent + shift;
  Wide value = 0;
  const auto digits = static_cast<int64_t>(number.digits());
  for (int64_t i = 0; i < point; ++i) {
    if (i >= digits && value == 0) return 0;
    value = value * 10;
    if (i < digits) value += static_cast<unsigned>(number.Digit(static_cast<size_t>(i)) - '0');
    if (value > kMaxMagnitude) return kMaxMagnitude;
  }
  const bool up =
      round && point >= 0 && point < digits && number.Digit(static_cast<size_t>(point)) >= '5';
  if (up) ++value;
  return value > kMaxMagnitude ? kMaxMagnitude : static_cast<uint64_t>(value);
}

// The form that nearly every number has: up to 16 digits, a point, up to 3 digits.
bool ParsePlainMicros(std::string_view text, int64_t& ns) {
  constexpr size_t kMostDigits = 16;  // and then below 9·10^15: times 1,000 it fits
  const bool negative = !text.empty() && text[0] == '-';
  const size_t first = negative ? 1 : 0;
  const size_t stop = std::min(text.size(), first + kMostDigits);
  size_t i = first;
  int64_t value = 0;
  while (i < stop && IsDigit(text[i])) value = value * 10 + (text[i++] - '0');
  if (i == first || (i - first == kMostDigits && text[first] == '9')) return false;
  int decimals = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    while (i < text.size() && IsDigit(text[i]) && decimals < 3) {
      value = value * 10 + (text[i++] - '0');
      ++decimals;
    }
  }
  if (i != text.size()) return false;
  for (; decimals < 3; ++decimals) value *= 10;
  ns = negative ? -value : value;
  return true;
}

// Digits alone, few enough for either type.
bool ParsePlainInteger(std::string_view text, uint64_t& value) {
  if (text.empty() || text.size() > 18) return false;
  uint64_t sum = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    sum = sum * 10 + static_cast<unsigned>(c - '0');
  }
  value = sum;
  return true;
}

}  // namespace

bool ParseMicros(std::string_view text, int64_t& ns) {
  if (ParsePlainMicros(text, ns)) return true;
  Decimal number;
  if (!Split(text, number)) return false;
  const uint64_t magnitude = Scale(number, 3, /*round=*/true);
  if (magnitude > kMaxInt64) return false;
  ns = number.negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

bool ParseUnsigned(std::string_view text, uint64_t& value) {
  if (ParsePlainInteger(text, value)) return true;
  Decimal number;
  if (!Split(text, number)) return false;
  value = number.negative ? 0 : Scale(number, 0, /*round=*/false);
  return true;
}

bool ParseSigned(std::string_view text, int64_t& value) {
  if (uint64_t plain = 0; ParsePlainInteger(text, plain)) {
    value = static_cast<int64_t>(plain);
    return true;
  }
  Decimal number;
  if (!Split(text, number)) return false;
  const uint64_t magnitude = std::min(Scale(number, 0, /*round=*/false), kMaxInt64);
  value = number.negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

}  // namespace nanolane::ingest::kineto
