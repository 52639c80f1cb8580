#include "libs/base/time_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
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

bool InNumber(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.'; }

__extension__ using Wide = __int128;

// A number and its unit.
struct Term {
  Wide ns = 0;
  int64_t unit_ns = 0;
};

// Takes the term at the beginning of `rest`, which is the end of `text`.
absl::StatusOr<Term> TakeTerm(std::string_view text, std::string_view& rest) {
  const auto number_end = std::find_if_not(rest.begin(), rest.end(), InNumber);
  const auto term_end = std::find_if(number_end, rest.end(), InNumber);
  const std::string_view number(rest.begin(), number_end);
  std::string_view unit_name(number_end, term_end);
  rest = std::string_view(term_end, rest.end());
  while (!unit_name.empty() && unit_name.front() == ' ') unit_name.remove_prefix(1);
  Term term;
  for (const Unit& unit : kUnits) {
    if (unit.name == unit_name) term.unit_ns = unit.ns;
  }
  if (term.unit_ns == 0) return BadDuration(text, "it has no unit of ns, us, ms, s, m or h");
  const size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
  if (whole.empty() && fraction.empty()) return BadDuration(text, "it has no number");
  uint64_t value = 0;
  if (!whole.empty() && !absl::SimpleAtoi(ToAbsl(whole), &value))
    return BadDuration(text, "the number is not readable");
  term.ns = static_cast<Wide>(value) * term.unit_ns;
  int64_t place = term.unit_ns;
  for (const char c : fraction) {
    if (c < '0' || c > '9') return BadDuration(text, "the number is not readable");
    if (place % 10 != 0 && c != '0') return BadDuration(text, "it is finer than a nanosecond");
    place /= 10;
    term.ns += static_cast<Wide>(c - '0') * place;
  }
  return term;
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
  const bool negative = !text.empty() && text[0] == '-';
  std::string_view rest = text.substr(negative ? 1 : 0);
  Wide ns = 0;
  int64_t last_unit_ns = std::numeric_limits<int64_t>::max();
  do {
    ASSIGN_OR_RETURN(const Term term, TakeTerm(text, rest));
    if (term.unit_ns >= last_unit_ns) return BadDuration(text, "its units must get smaller");
    last_unit_ns = term.unit_ns;
    ns += term.ns;
    if (ns > std::numeric_limits<int64_t>::max()) return BadDuration(text, "it is out of range");
  } while (!rest.empty());
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
