#include "clients/cli/output/table.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_format.h"

namespace nanolane::cli {
namespace {

constexpr size_t kGap = 2;          // between columns
constexpr size_t kLeastWidth = 12;  // of a last column that gives way

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

std::string Shorten(const std::string& text, size_t width) {
  if (width == 0 || Width(text) <= width) return text;
  std::string cut;
  size_t characters = 0;
  for (const char byte : text) {
    if (StartsCharacter(byte) && ++characters == width) break;
    cut.push_back(byte);
  }
  return cut + "…";
}

}  // namespace

std::string Table::Render(size_t line_width) const {
  std::vector<std::vector<std::string>> lines(1);
  for (const TableColumn& column : columns_) lines[0].push_back(column.title);
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (size_t i = 0; i < columns_.size(); ++i) {
      line.push_back(Shorten(i < row.size() ? row[i] : "", columns_[i].max_width));
    }
  }
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  if (line_width > 0) {
    size_t before = 0;
    for (size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + kGap;
    const size_t room = std::max(kLeastWidth, line_width - std::min(line_width, before));
    for (auto& line : lines) line.back() = Shorten(line.back(), room);
    widths.back() = std::min(widths.back(), room);
  }
  std::string text;
  for (const auto& line : lines) {
    std::string rendered;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - Width(line[i]), ' ');
      if (i > 0) rendered.append(kGap, ' ');
      rendered += columns_[i].align == Align::kRight ? padding + line[i] : line[i] + padding;
    }
    rendered.erase(rendered.find_last_not_of(' ') + 1);
    text += rendered + "\n";
  }
  return text;
}

std::string FormatBytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrFormat("%d B", bytes)
                   : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

}  // namespace nanolane::cli
