// A regular expression over the names that are loaded. It is matched against the table of names,
// never against events: a few thousand matches, whatever the length of the capture.
// Thread-compatible.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clients/desktop/model/name_table.h"

namespace re2 {
class RE2;
}

namespace nanolane::desktop {

class NameSearch {
 public:
  NameSearch();
  ~NameSearch();

  // RE2 syntax, letters of either case; empty: no search. A pattern that does not parse matches
  // nothing and gives error().
  void SetPattern(const std::string& pattern);
  // The names are other ones now: all are matched again.
  void Forget();
  // Matches the names that came since the last call. Cheap when there are none.
  void Update(const NameTable& names);

  bool active() const { return regex_ != nullptr || !error_.empty(); }
  const std::string& error() const { return error_; }
  const std::string& pattern() const { return pattern_; }
  bool Matches(NameId name) const { return name < matches_.size() && matches_[name]; }
  size_t matching_names() const { return count_; }
  // Raised by every change of the pattern, and by Forget().
  uint64_t pattern_version() const { return pattern_version_; }

 private:
  std::unique_ptr<re2::RE2> regex_;
  std::string pattern_;
  std::string error_;
  std::vector<bool> matches_;  // by name
  size_t count_ = 0;
  uint64_t pattern_version_ = 0;
};

}  // namespace nanolane::desktop
