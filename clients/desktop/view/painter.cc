#include "clients/desktop/view/painter.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace nanolane::desktop {
namespace {

constexpr std::string_view kEllipsis = "…";

ImVec2 At(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

float Measure(const Face& face, std::string_view text) {
  if (text.empty()) return 0;
  return face.font->CalcTextSizeA(face.size, 1e9F, 0, text.data(), text.data() + text.size()).x;
}

// Bytes of `text` that fit into `width`; never half a character.
size_t FittingBytes(const Face& face, std::string_view text, float width) {
  if (width <= 0) return 0;
  const char* rest = text.data();
  face.font->CalcTextSizeA(face.size, width, 0, text.data(), text.data() + text.size(), &rest);
  size_t kept = static_cast<size_t>(rest - text.data());
  while (kept > 0 && kept < text.size() &&
         (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80) {
    --kept;
  }
  return kept;
}

// The start of `text` that fits into `width` together with the ellipsis.
std::string Elided(const Face& face, std::string_view text, float width) {
  size_t kept = FittingBytes(face, text, width - Measure(face, kEllipsis));
  while (kept > 0 && text[kept - 1] == ' ') --kept;
  return std::string(text.substr(0, kept)).append(kEllipsis);
}

}  // namespace

void Painter::Fill(const Rect& rect, Rgba color, double radius) {
  list_.AddRectFilled(At(rect.x, rect.y), At(rect.right(), rect.bottom()), color,
                      static_cast<float>(radius));
}

void Painter::Frame(const Rect& rect, Rgba color, double radius, double thickness) {
  const double inset = thickness / 2;
  list_.AddRect(At(rect.x + inset, rect.y + inset), At(rect.right() - inset, rect.bottom() - inset),
                color, static_cast<float>(radius), 0, static_cast<float>(thickness));
}

void Painter::HorizontalLine(double x0, double x1, double y, Rgba color) {
  list_.AddRectFilled(At(x0, y), At(x1, y + 1), color);
}

void Painter::VerticalLine(double x, double y0, double y1, Rgba color) {
  list_.AddRectFilled(At(x, y0), At(x + 1, y1), color);
}

void Painter::DashedVertical(double x, double y0, double y1, Rgba color) {
  constexpr double kDash = 3;
  const auto dashes = static_cast<int>(std::ceil((y1 - y0) / (2 * kDash)));
  for (int i = 0; i < dashes; ++i) {
    const double y = y0 + 2 * kDash * i;
    VerticalLine(x, y, std::min(y + kDash, y1), color);
  }
}

void Painter::Hatch(const Rect& rect, Rgba color) {
  constexpr double kStep = 6;
  list_.PushClipRect(At(rect.x, rect.y), At(rect.right(), rect.bottom()), true);
  // Fixed to the window, so that neighbours fit together and nothing crawls while panning.
  for (double x = std::floor(rect.x / kStep) * kStep; x < rect.right() + rect.height; x += kStep) {
    list_.AddLine(At(x, rect.y), At(x - rect.height, rect.bottom()), color, 1.5F);
  }
  list_.PopClipRect();
}

void Painter::Dot(double x, double y, double radius, Rgba color) {
  list_.AddCircleFilled(At(x, y), static_cast<float>(radius), color, 16);
}

void Painter::LossTick(double x, double y, Rgba color) {
  list_.AddTriangleFilled(At(x - 3.5, y), At(x + 3.5, y), At(x, y + 6), color);
}

void Painter::Disclosure(double x, double y, bool open, Rgba color) {
  if (open) {
    list_.AddTriangleFilled(At(x - 3.5, y - 2), At(x + 3.5, y - 2), At(x, y + 2.5), color);
  } else {
    list_.AddTriangleFilled(At(x - 2, y - 3.5), At(x + 2.5, y), At(x - 2, y + 3.5), color);
  }
}

void Painter::Warning(double x, double y, Rgba color, Rgba mark) {
  list_.AddTriangleFilled(At(x, y - 5), At(x + 6, y + 5), At(x - 6, y + 5), color);
  list_.AddRectFilled(At(x - 0.75, y - 1.5), At(x + 0.75, y + 1.75), mark);
  list_.AddRectFilled(At(x - 0.75, y + 2.5), At(x + 0.75, y + 4), mark);
}

void Painter::Pin(double x, double y, Rgba color) {
  list_.AddRectFilled(At(x - 2, y - 4.5), At(x + 2, y - 0.5), color);
  list_.AddRectFilled(At(x - 3.5, y - 0.5), At(x + 3.5, y + 1), color);
  list_.AddRectFilled(At(x - 0.5, y + 1), At(x + 0.5, y + 5), color);
}

double Painter::Text(const Face& face, double x, double y, double height, Rgba color,
                     std::string_view text, double most_width) {
  if (text.empty()) return 0;
  double width = Measure(face, text);
  std::string shortened;
  if (width > most_width) {
    shortened = Elided(face, text, static_cast<float>(most_width));
    text = shortened;
    width = Measure(face, text);
    if (width > most_width) return 0;  // not even the ellipsis fits
  }
  const double top = y + (height - face.size) / 2;
  list_.AddText(face.font, face.size, At(std::floor(x), std::floor(top + 0.5)), color, text.data(),
                text.data() + text.size());
  return width;
}

double Painter::TextRight(const Face& face, double right, double y, double height, Rgba color,
                          std::string_view text) {
  return Text(face, right - Measure(face, text), y, height, color, text);
}

double Painter::TextCentered(const Face& face, double center, double y, double height, Rgba color,
                             std::string_view text) {
  return Text(face, center - Measure(face, text) / 2, y, height, color, text);
}

std::vector<std::string_view> Painter::Wrap(const Face& face, std::string_view text, double width) {
  constexpr size_t kLookBack = 16;
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t bytes = std::max<size_t>(FittingBytes(face, text, static_cast<float>(width)), 1);
    if (bytes < text.size()) {
      const size_t separator = text.substr(0, bytes).find_last_of(" _,:<>(");
      if (separator != std::string_view::npos && bytes - separator <= kLookBack)
        bytes = separator + 1;
    }
    lines.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return lines;
}

double Painter::Width(const Face& face, std::string_view text) { return Measure(face, text); }

void Painter::Clip(const Rect& rect) {
  list_.PushClipRect(At(rect.x, rect.y), At(rect.right(), rect.bottom()), true);
}

void Painter::Unclip() { list_.PopClipRect(); }

}  // namespace nanolane::desktop
