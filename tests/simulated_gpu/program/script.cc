#include "tests/simulated_gpu/program/script.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "libs/base/str_cat.h"

namespace nanolane::sim {
namespace {

constexpr std::array<std::string_view, 4> kBlocks = {"threads", "loop", "loop-until-file", "fork"};

bool IsBlock(std::string_view name) {
  return std::find(kBlocks.begin(), kBlocks.end(), name) != kBlocks.end();
}

std::vector<std::string> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_quotes = false;
  bool in_word = false;
  for (const char c : line) {
    if (c == '"') {
      in_quotes = !in_quotes;
      in_word = true;
      continue;
    }
    if (!in_quotes && c == '#') break;
    if (in_quotes || (c != ' ' && c != '\t')) {
      word += c;
      in_word = true;
      continue;
    }
    if (in_word) words.push_back(word);
    word.clear();
    in_word = false;
  }
  if (in_word) words.push_back(word);
  return words;
}

Command ToCommand(const std::vector<std::string>& words, int line) {
  Command command;
  command.line = line;
  command.name = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const bool is_text = command.name == "say";
    if (is_text || equals == std::string::npos || equals == 0) {
      command.words.push_back(words[i]);
      continue;
    }
    command.options.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  return command;
}

}  // namespace

const std::string* Command::Option(std::string_view key) const {
  for (const auto& [name_of, value] : options) {
    if (name_of == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::vector<Command>> ParseScript(std::string_view text) {
  std::vector<std::vector<Command>> open(1);
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.empty()) continue;
    if (words[0] != "end") {
      open.back().push_back(ToCommand(words, number));
      if (IsBlock(words[0])) open.emplace_back();
      continue;
    }
    if (open.size() == 1) {
      return absl::InvalidArgumentError(base::StrCat("line ", number, ": end without a block"));
    }
    std::vector<Command> body = std::move(open.back());
    open.pop_back();
    open.back().back().body = std::move(body);
  }
  if (open.size() > 1) return absl::InvalidArgumentError("a block is not ended");
  return std::move(open[0]);
}

}  // namespace nanolane::sim
