// Which stacks hold a frame that a search matches, by function or file.
//
// Frames and strings are matched once each, a part of them in each frame of the window; stacks
// follow from their frames in one pass. Symbols of a running process come late: a frame is matched
// again when its symbol has changed. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clients/desktop/model/name_search.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

class FrameSearch {
 public:
  // Matches up to `most_frames` frames. True: all that are loaded are matched.
  bool Update(const TimelineModel& model, const NameSearch& search, size_t most_frames);

  // Whether any stack matches.
  bool any() const { return any_; }
  // `dictionary` is one of the model's.
  bool Matches(uint32_t dictionary, trace::StackId stack) const {
    return dictionary < dictionaries_.size() && stack < dictionaries_[dictionary].stacks.size() &&
           dictionaries_[dictionary].stacks[stack];
  }
  // Raised when the answer for a stack that was there before may be another one.
  uint64_t version() const { return version_; }

 private:
  enum class Match : uint8_t { kUnknown, kNo, kYes };
  struct Frames {
    std::vector<Match> strings;              // by string
    std::vector<trace::StringId> functions;  // of the frames, as they were matched
    std::vector<bool> frames;                // by frame; those up to `matched` are known
    std::vector<bool> stacks;
    size_t matched = 0;
  };

  void Begin(const TimelineModel& model, const NameSearch& search);
  bool MatchString(const trace::Dictionary& dictionary, const NameSearch& search, Frames& of,
                   trace::StringId string);
  void SpreadToStacks(const trace::Dictionary& dictionary, Frames& of);

  std::vector<Frames> dictionaries_;
  uint64_t pattern_version_ = 0;
  uint64_t dictionary_version_ = ~uint64_t{0};
  uint64_t version_ = 0;
  size_t at_ = 0;  // the dictionary that is being matched
  bool any_ = false;
  bool complete_ = true;
};

}  // namespace nanolane::desktop
