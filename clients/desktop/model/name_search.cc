#include "clients/desktop/model/name_search.h"

#include <re2/re2.h>

#include <algorithm>

namespace nanolane::desktop {
namespace {

constexpr int64_t kMostRegexBytes = 8 << 20;

}  // namespace

NameSearch::NameSearch() = default;
NameSearch::~NameSearch() = default;

void NameSearch::SetPattern(const std::string& pattern) {
  if (pattern == pattern_) return;
  pattern_ = pattern;
  error_.clear();
  regex_.reset();
  matches_.clear();
  found_.clear();
  ++pattern_version_;
  if (pattern.empty()) return;
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_case_sensitive(false);
  options.set_max_mem(kMostRegexBytes);
  regex_ = std::make_unique<re2::RE2>(pattern, options);
  if (regex_->ok()) return;
  error_ = regex_->error();
  regex_.reset();
}

void NameSearch::Forget() {
  matches_.clear();
  found_.clear();
  ++pattern_version_;
}

bool NameSearch::Update(const NameTable& names, size_t most_names) {
  if (regex_ == nullptr) return true;
  const size_t left = names.size() - matches_.size();
  const size_t to = matches_.size() + std::min(left, most_names);
  for (size_t name = matches_.size(); name < to; ++name) {
    const bool hit = name != 0 && MatchesText(names.Full(static_cast<NameId>(name)));
    matches_.push_back(hit);
    if (hit) found_.push_back(static_cast<NameId>(name));
  }
  return left <= most_names;
}

bool NameSearch::MatchesText(std::string_view text) const {
  // Where a match begins and ends is not asked for, which makes it several times faster.
  return regex_ != nullptr && regex_->Match(re2::StringPiece(text.data(), text.size()), 0,
                                            text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

}  // namespace nanolane::desktop
