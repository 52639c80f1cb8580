// A regular expression over the names that are loaded. It is matched against the table of names,
// never against events: a few thousand matches, whatever the length of the capture.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
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
  // Matches the names that came since the last call, up to `most_names`. Cheap when there are none.
  // True: all are matched.
  bool Update(const NameTable& names, size_t most_names = std::numeric_limits<size_t>::max());

  bool active() const { return regex_ != nullptr || !error_.empty(); }
  const std::string& error() const { return error_; }
  const std::string& pattern() const { return pattern_; }
  bool Matches(NameId name) const { return name < matches_.size() && matches_[name]; }
  size_t matching_names() const { return found_.size(); }
  const std::vector<NameId>& matches() const { return found_; }  // ascending
  // Whether the pattern matches any other text. No pattern matches nothing.
  bool MatchesText(std::string_view text) const;
  // Raised by every change of the pattern, and by Forget().
  uint64_t pattern_version() const { return pattern_version_; }

 private:
  std::unique_ptr<re2::RE2> regex_;
  std::string pattern_;
  std::string error_;
  std::vector<bool> matches_;  // by name
  std::vector<NameId> found_;
  uint64_t pattern_version_ = 0;
};

}  // namespace nanolane::desktop
