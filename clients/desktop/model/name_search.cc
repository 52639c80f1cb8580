#include "clients/desktop/model/name_search.h"

#include <re2/re2.h>

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
  count_ = 0;
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
  count_ = 0;
  ++pattern_version_;
}

void NameSearch::Update(const NameTable& names) {
  if (regex_ == nullptr || matches_.size() == names.size()) return;
  for (size_t name = matches_.size(); name < names.size(); ++name) {
    const bool hit = re2::RE2::PartialMatch(names.Full(static_cast<NameId>(name)), *regex_);
    matches_.push_back(hit && name != 0);
    if (matches_.back()) ++count_;
  }
}

}  // namespace nanolane::desktop
