#include "clients/desktop/model/ruler.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr std::array<int64_t, 14> kLongSteps = {
    kSecond,     2 * kSecond,  5 * kSecond,  10 * kSecond, 30 * kSecond, kMinute,   2 * kMinute,
    5 * kMinute, 10 * kMinute, 30 * kMinute, kHour,        2 * kHour,    6 * kHour, 24 * kHour};

// "512 984": the fraction's digits in groups of three.
std::string Grouped(const std::string& digits) {
  std::string text;
  for (size_t at = 0; at < digits.size(); at += 3) {
    if (at > 0) text += ' ';
    text += digits.substr(at, 3);
  }
  return text;
}

// Digits after the point so that multiples of `step` are written in full in units of `unit`.
int Decimals(uint64_t step, uint64_t unit) {
  int digits = 0;
  while (unit > 1 && step % unit != 0) {
    unit /= 10;
    ++digits;
  }
  // More than three digits come in whole groups.
  return digits <= 3 ? digits : (digits + 2) / 3 * 3;
}

std::string Fraction(uint64_t rest, uint64_t unit, int decimals) {
  if (decimals == 0) return "";
  std::string digits;
  for (int i = 0; i < decimals; ++i) {
    unit /= 10;
    digits += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return absl::StrCat(".", Grouped(digits));
}

std::string ClockLabel(uint64_t magnitude, uint64_t greatest, uint64_t step) {
  const uint64_t seconds = magnitude / kSecond;
  const std::string fraction = Fraction(magnitude % kSecond, kSecond, Decimals(step, kSecond));
  if (greatest >= kHour) {
    return absl::StrFormat("%d:%02d:%02d%s", seconds / 3600, seconds / 60 % 60, seconds % 60,
                           fraction);
  }
  return absl::StrFormat("%d:%02d%s", seconds / 60, seconds % 60, fraction);
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

int64_t RoundStep(int64_t least_ns) {
  int64_t power = 1;
  while (power < kSecond) {
    for (const int64_t times : {1, 2, 5}) {
      if (power * times >= least_ns) return power * times;
    }
    power *= 10;
  }
  for (const int64_t step : kLongSteps) {
    if (step >= least_ns) return step;
  }
  int64_t days = 24 * kHour;
  while (days < least_ns && days <= std::numeric_limits<int64_t>::max() / 10) days *= 10;
  return days;
}

std::string RulerLabel(int64_t since_start_ns, int64_t greatest_ns, int64_t step_ns) {
  const uint64_t magnitude = Magnitude(since_start_ns);
  const uint64_t greatest = std::max(Magnitude(greatest_ns), magnitude);
  const std::string sign = since_start_ns < 0 ? "-" : "";
  const uint64_t step = static_cast<uint64_t>(std::max<int64_t>(step_ns, 1));
  if (greatest >= 2 * kMinute) return absl::StrCat(sign, ClockLabel(magnitude, greatest, step));
  uint64_t unit = 1;
  const char* name = "ns";
  if (greatest >= static_cast<uint64_t>(kSecond)) {
    unit = kSecond;
    name = "s";
  } else if (greatest >= 1'000'000) {
    unit = 1'000'000;
    name = "ms";
  } else if (greatest >= 1'000) {
    unit = 1'000;
    name = "µs";
  }
  return absl::StrCat(sign, magnitude / unit,
                      Fraction(magnitude % unit, unit, Decimals(step, unit)), " ", name);
}

std::vector<RulerTick> RulerTicks(const timeline::Window& window, double width, double least_gap,
                                  int64_t origin_ns) {
  std::vector<RulerTick> ticks;
  const Wide span = SpanOf(window);
  if (width <= 0 || span <= 0) return ticks;
  const double least_ns = least_gap / width * static_cast<double>(span);
  const int64_t step =
      RoundStep(std::max<int64_t>(1, ClampToInt64(static_cast<Wide>(least_ns) + 1)));
  const Wide from = static_cast<Wide>(window.start_ns) - origin_ns;
  const Wide first = from / step * step - (from < 0 && from % step != 0 ? step : 0);
  const int64_t greatest = ClampToInt64(
      std::max<Wide>(from < 0 ? -from : from, static_cast<Wide>(window.end_ns) - origin_ns));
  for (Wide at = first; at + origin_ns < window.end_ns; at += step) {
    if (at < from) continue;
    const int64_t time = ClampToInt64(at + origin_ns);
    ticks.push_back(
        {time, PixelOf(window, width, time), RulerLabel(ClampToInt64(at), greatest, step)});
  }
  return ticks;
}

}  // namespace nanolane::desktop
