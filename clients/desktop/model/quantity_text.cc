#include "clients/desktop/model/quantity_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/desktop/model/ruler.h"

namespace nanolane::desktop {
namespace {

constexpr std::array<const char*, 6> kByteUnits = {"B", "KB", "MB", "GB", "TB", "PB"};

// Three digits that count, without trailing zeros after the point.
std::string ThreeDigits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text = absl::StrFormat("%.*f", decimals, value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string ExactTime(int64_t ns) { return RulerLabel(ns, ns, 1); }

std::string BytesText(int64_t bytes) {
  double value = std::abs(static_cast<double>(bytes));
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kByteUnits.size()) {
    value /= 1'000;
    ++unit;
  }
  return absl::StrCat(bytes < 0 ? "-" : "", ThreeDigits(value), " ", kByteUnits[unit]);
}

std::string RateText(int64_t bytes, int64_t duration_ns) {
  if (bytes <= 0 || duration_ns <= 0) return "";
  const double per_second = static_cast<double>(bytes) / static_cast<double>(duration_ns) * 1e9;
  return absl::StrCat(BytesText(static_cast<int64_t>(std::min(per_second, 9e18))), "/s");
}

std::string ShareText(double part, double whole) {
  if (whole <= 0 || part <= 0) return "0 %";
  const double percent = part / whole * 100;
  if (percent >= 99.95) return percent > 99.9999999 ? "100 %" : "99.9 %";
  if (percent < 0.01) return "< 0.01 %";
  return absl::StrFormat("%.*f %%", percent < 0.995 ? 2 : 1, percent);
}

}  // namespace nanolane::desktop
