#include "clients/desktop/view/theme.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>
#include "clients/desktop/model/stack_levels.h"

namespace nanolane::desktop {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Vector Times(const Matrix& matrix, const Vector& v) {
  Vector out{};
  for (size_t i = 0; i < 3; ++i) {
    out[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
  }
  return out;
}

Vector Linear(Rgba color) {
  Vector out{};
  for (size_t i = 0; i < 3; ++i) {
    const double c = static_cast<double>((color >> (8 * i)) & 0xFF) / 255;
    out[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return out;
}

// CIE L*a*b* of linear sRGB.
Vector Lab(Vector linear) {
  for (double& c : linear) c = std::clamp(c, 0.0, 1.0);
  constexpr Matrix kXyz = {
      {{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  constexpr Vector kWhite = {0.95047, 1, 1.08883};
  Vector f = Times(kXyz, linear);
  for (size_t i = 0; i < 3; ++i) {
    const double t = f[i] / kWhite[i];
    f[i] = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double Distance(const Vector& a, const Vector& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// How colours are seen: Machado, Oliveira and Fernandes (2009), full strength.
const std::vector<std::pair<std::string, Matrix>>& Eyes() {
  static const std::vector<std::pair<std::string, Matrix>> eyes = {
      {"usual", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
      {"protanopia",
       {{{0.152286, 1.052583, -0.204868},
         {0.114503, 0.786281, 0.099216},
         {-0.003882, -0.048116, 1.051998}}}},
      {"deuteranopia",
       {{{0.367322, 0.860646, -0.227968},
         {0.280085, 0.672501, 0.047413},
         {-0.011820, 0.042940, 0.968881}}}},
      {"tritanopia",
       {{{1.255528, -0.076749, -0.178779},
         {-0.078411, 0.930809, 0.147602},
         {0.004733, 0.691367, 0.303900}}}}};
  return eyes;
}

double Contrast(Rgba a, Rgba b) {
  const auto luminance = [](Rgba color) {
    const Vector c = Linear(color);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  const double la = luminance(a);
  const double lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

}  // namespace

TEST_CASE("categories that share a row can be told apart by any common kind of colour vision") {
  using trace::Category;
  const std::vector<Category> row = {
      Category::kOtherKernel, Category::kGemm,          Category::kAttention, Category::kNormReduce,
      Category::kElementwise, Category::kCommunication, Category::kH2D,       Category::kD2H,
      Category::kD2D,         Category::kMemset};
  for (const ThemeName name : {ThemeName::kDark, ThemeName::kLight}) {
    const Theme& theme = ThemeOf(name);
    for (const auto& [eye, matrix] : Eyes()) {
      for (size_t i = 0; i < row.size(); ++i) {
        for (size_t j = i + 1; j < row.size(); ++j) {
          INFO(eye << ": " << trace::ToString(row[i]) << " and " << trace::ToString(row[j]));
          CHECK(Distance(Lab(Times(matrix, Linear(theme.OfCategory(row[i])))),
                         Lab(Times(matrix, Linear(theme.OfCategory(row[j]))))) >= 9);
        }
      }
    }
  }
}

TEST_CASE("text can be read on its ground") {
  for (const ThemeName name : {ThemeName::kDark, ThemeName::kLight}) {
    const Theme& theme = ThemeOf(name);
    for (const Rgba ground : {theme.background, theme.panel, theme.raised}) {
      CHECK(Contrast(theme.text, ground) >= 7);
      CHECK(Contrast(theme.muted, ground) >= 4.5);
    }
    for (int language = 0; language < kLanguageCount; ++language) {
      const Rgba ground = theme.GroundOfLanguage(static_cast<trace::Language>(language));
      CHECK(Contrast(theme.text, ground) >= 4.5);
    }
  }
}

TEST_CASE("columns stand out from the background in every colour") {
  for (const ThemeName name : {ThemeName::kDark, ThemeName::kLight}) {
    const Theme& theme = ThemeOf(name);
    for (const Rgba color : theme.category) {
      CHECK(Distance(Lab(Linear(color)), Lab(Linear(theme.background))) >= 20);
    }
    CHECK(Contrast(theme.accent, theme.background) >= 2.5);
  }
}

TEST_CASE("fading keeps the colour and takes from the alpha") {
  CHECK(Faded(0xFF102030, 0.5) == 0x80102030);
  CHECK(Faded(0x80102030, 0.5) == 0x40102030);
}

}  // namespace nanolane::desktop
