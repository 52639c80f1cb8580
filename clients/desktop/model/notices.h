// What a person must be told beside the timeline: what is missing from it and why, that a recording
// has ended, that the connection is lost, that something could not be opened. Pure.
//
// A notice is known by its key. What has been dismissed stays away until its key changes: losses
// come again when there is a reason that was not there, not with every further event.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

struct Notice {
  enum class Kind : uint8_t { kConnectionLost, kIncomplete, kOpenFailed, kEnded, kMissing };
  Kind kind = Kind::kMissing;
  std::string key;
  std::string text;
  std::vector<std::string> details;  // a line each
  bool reopen = false;               // opening the session again may help
};

// The most urgent first.
std::vector<Notice> NoticesOf(const Loaded& loaded);

class NoticeBoard {
 public:
  void Update(const Loaded& loaded);
  // Not dismissed.
  const std::vector<Notice>& notices() const { return notices_; }
  void Dismiss(const std::string& key);
  bool Unfolded(const std::string& key) const { return unfolded_ == key; }
  void ToggleDetails(const std::string& key) { unfolded_ = unfolded_ == key ? "" : key; }

 private:
  std::vector<Notice> notices_;
  std::set<std::string> dismissed_;
  std::string unfolded_;  // the one whose details are shown
};

}  // namespace nanolane::desktop
