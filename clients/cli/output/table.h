// Tables for people: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace nanolane::cli {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  size_t max_width = 0;  // in characters, 0: any; longer cells end with an ellipsis
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Lines with line ends; the titles first. Where a line is to have `line_width` characters at most
  // (0: any number), the last column gives way, down to a few characters.
  std::string Render(size_t line_width = 0) const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 1536 → "1.5 KiB".
std::string FormatBytes(uint64_t bytes);

}  // namespace nanolane::cli
