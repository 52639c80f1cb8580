#include "clients/desktop/model/stack_languages.h"

namespace nanolane::desktop {

void StackLanguages::Update(const TimelineModel& model) {
  if (version_ == model.dictionary_version()) return;
  version_ = model.dictionary_version();
  all_ = 0;
  stacks_.resize(model.dictionary_count());
  for (size_t i = 0; i < stacks_.size(); ++i) {
    const trace::Dictionary& dictionary = model.dictionary(static_cast<uint32_t>(i));
    std::vector<LanguageSet>& sets = stacks_[i];
    sets.assign(dictionary.stack_count() + 1, 0);
    // A stack comes after the one that called it.
    for (size_t stack = 1; stack < sets.size(); ++stack) {
      const trace::StackNode& node = dictionary.Stack(static_cast<trace::StackId>(stack));
      const auto language = static_cast<unsigned>(dictionary.SymbolOf(node.frame).language);
      sets[stack] = sets[node.parent] | 1U << language;
      all_ |= sets[stack];
    }
  }
}

}  // namespace nanolane::desktop
