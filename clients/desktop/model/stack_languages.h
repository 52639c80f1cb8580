// The languages of every stack: which a filter asks for. One pass over the stacks whenever the
// dictionaries have grown. Thread-compatible.
#pragma once

#include <cstdint>
#include <vector>

#include "clients/desktop/model/event_filter.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

class StackLanguages {
 public:
  // O(stacks) when dictionaries have changed since the last call.
  void Update(const TimelineModel& model);

  LanguageSet Of(uint32_t dictionary, trace::StackId stack) const {
    if (stack == 0) return kNoStack;
    return dictionary < stacks_.size() && stack < stacks_[dictionary].size()
               ? stacks_[dictionary][stack]
               : 0;
  }
  // Of all stacks.
  LanguageSet all() const { return all_; }

 private:
  std::vector<std::vector<LanguageSet>> stacks_;  // by dictionary
  LanguageSet all_ = 0;
  uint64_t version_ = ~uint64_t{0};
};

}  // namespace nanolane::desktop
