#include "libs/base/time_text.h"

#include <array>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "libs/base/number_text.h"
#include "libs/base/str_cat.h"

namespace nanolane::base {
namespace {

struct Unit {
  std::string_view name;
  int64_t ns;
};
constexpr std::array<Unit, 7> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"µs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

absl::Status BadDuration(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      StrCat("bad time \"", text, "\": ", why, "; write a number and a unit, such as 1.2ms"));
}

}  // namespace

std::string FormatDuration(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const std::string sign = negative ? "-" : "";
  if (magnitude < 1'000) return StrCat(sign, magnitude, " ns");
  uint64_t unit = 1'000;
  const char* name = "µs";
  if (magnitude >= 1'000'000'000) {
    unit = 1'000'000'000;
    name = "s";
  } else if (magnitude >= 1'000'000) {
    unit = 1'000'000;
    name = "ms";
  }
  const uint64_t thousandth = unit / 1'000;
  const uint64_t whole = magnitude / unit;
  const uint64_t fraction = magnitude % unit / thousandth;
  if (fraction == 0) return StrCat(sign, whole, " ", name);
  std::string digits = absl::StrFormat("%03d", fraction);
  while (digits.back() == '0') digits.pop_back();
  return StrCat(sign, whole, ".", digits, " ", name);
}

std::string FormatExactNanos(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return StrCat(negative ? "-" : "", GroupedCount(magnitude), " ns");
}

absl::StatusOr<int64_t> ParseDuration(std::string_view text) {
  size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  const size_t number_start = at;
  while (at < text.size() &&
         (absl::ascii_isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.'))
    ++at;
  const std::string_view number = text.substr(number_start, at - number_start);
  std::string_view unit_name = text.substr(at);
  while (!unit_name.empty() && unit_name.front() == ' ') unit_name.remove_prefix(1);
  int64_t unit_ns = 0;
  for (const Unit& unit : kUnits) {
    if (unit.name == unit_name) unit_ns = unit.ns;
  }
  if (unit_ns == 0) return BadDuration(text, "it has no unit of ns, us, ms, s, m or h");
  const size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
  if (whole.empty() && fraction.empty()) return BadDuration(text, "it has no number");
  uint64_t value = 0;
  if (!whole.empty() && !absl::SimpleAtoi(ToAbsl(whole), &value))
    return BadDuration(text, "the number is not readable");
  __extension__ using Wide = __int128;
  Wide ns = static_cast<Wide>(value) * unit_ns;
  int64_t place = unit_ns;
  for (const char c : fraction) {
    if (c < '0' || c > '9') return BadDuration(text, "the number is not readable");
    if (place % 10 != 0 && c != '0') return BadDuration(text, "it is finer than a nanosecond");
    place /= 10;
    ns += static_cast<Wide>(c - '0') * place;
  }
  if (ns > std::numeric_limits<int64_t>::max()) return BadDuration(text, "it is out of range");
  return static_cast<int64_t>(negative ? -ns : ns);
}

absl::StatusOr<TimeRange> ParseRange(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return absl::InvalidArgumentError(
        StrCat("bad range \"", text, "\": write FROM..TO, such as 1.2ms..3ms"));
  }
  // "1...2" cannot be told apart otherwise: the first ".." ends FROM.
  const auto from = ParseDuration(text.substr(0, dots));
  if (!from.ok()) return from.status();
  const auto to = ParseDuration(text.substr(dots + 2));
  if (!to.ok()) return to.status();
  if (*from >= *to) {
    return absl::InvalidArgumentError(StrCat("bad range \"", text, "\": FROM must be before TO"));
  }
  return TimeRange{*from, *to};
}

}  // namespace nanolane::base
