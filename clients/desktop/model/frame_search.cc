#include "clients/desktop/model/frame_search.h"

#include <algorithm>

namespace nanolane::desktop {

bool FrameSearch::Update(const TimelineModel& model, const NameSearch& search, size_t most_frames) {
  const bool same = pattern_version_ == search.pattern_version() &&
                    dictionary_version_ == model.dictionary_version();
  if (!same) Begin(model, search);
  if (complete_) return true;
  for (; at_ < dictionaries_.size(); ++at_) {
    const trace::Dictionary& dictionary = model.dictionary(static_cast<uint32_t>(at_));
    Frames& of = dictionaries_[at_];
    const size_t count = dictionary.frame_count() + 1;
    of.strings.resize(dictionary.string_count() + 1, Match::kUnknown);
    of.functions.resize(count, 0);
    of.frames.resize(count, false);
    for (; of.matched < count; ++of.matched) {
      const trace::Symbol& symbol = dictionary.SymbolOf(static_cast<trace::FrameId>(of.matched));
      if (symbol.function == of.functions[of.matched]) continue;  // null, or matched before
      if (most_frames == 0) return false;
      --most_frames;
      of.functions[of.matched] = symbol.function;
      of.frames[of.matched] = MatchString(dictionary, search, of, symbol.function) ||
                              MatchString(dictionary, search, of, symbol.file);
    }
    SpreadToStacks(dictionary, of);
  }
  complete_ = true;
  return true;
}

void FrameSearch::Begin(const TimelineModel& model, const NameSearch& search) {
  if (pattern_version_ != search.pattern_version()) {
    dictionaries_.clear();
    any_ = false;
    ++version_;
  }
  pattern_version_ = search.pattern_version();
  dictionary_version_ = model.dictionary_version();
  dictionaries_.resize(model.dictionary_count());
  for (Frames& of : dictionaries_) of.matched = 0;  // symbols may have changed
  at_ = 0;
  complete_ = !search.active() || !search.error().empty();
}

bool FrameSearch::MatchString(const trace::Dictionary& dictionary, const NameSearch& search,
                              Frames& of, trace::StringId string) {
  if (string == 0 || string >= of.strings.size()) return false;
  Match& match = of.strings[string];
  if (match == Match::kUnknown) {
    match = search.MatchesText(dictionary.String(string)) ? Match::kYes : Match::kNo;
  }
  return match == Match::kYes;
}

void FrameSearch::SpreadToStacks(const trace::Dictionary& dictionary, Frames& of) {
  const size_t known = of.stacks.size();
  of.stacks.resize(dictionary.stack_count() + 1, false);
  bool changed = false;
  // A stack comes after the one that called it.
  for (size_t stack = 1; stack < of.stacks.size(); ++stack) {
    const trace::StackNode& node = dictionary.Stack(static_cast<trace::StackId>(stack));
    const bool matches =
        of.stacks[node.parent] || (node.frame < of.frames.size() && of.frames[node.frame]);
    changed = changed || (stack < known && matches != of.stacks[stack]);
    of.stacks[stack] = matches;
    any_ = any_ || matches;
  }
  if (changed) ++version_;
}

}  // namespace nanolane::desktop
