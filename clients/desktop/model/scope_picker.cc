#include "clients/desktop/model/scope_picker.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {

void ScopePicker::Open(ScopePart part) {
  Close();
  part_ = part;
}

void ScopePicker::Close() { *this = ScopePicker(); }

void ScopePicker::SetChoices(std::vector<Choice> choices) {
  // A capture is known by its id, everything else by what it is called.
  const auto same = [](const Choice& a, const Choice& b) {
    return a.session == b.session && (!a.session.empty() || a.title == b.title);
  };
  std::optional<Choice> at;
  if (cursor_ < matching_.size()) at = std::move(choices_[matching_[cursor_]]);
  choices_ = std::move(choices);
  Match();
  for (size_t row = 0; row < matching_.size(); ++row) {
    const Choice& choice = choices_[matching_[row]];
    if (placed_ ? at.has_value() && same(choice, *at) : choice.chosen) {
      cursor_ = row;
      break;
    }
  }
  placed_ = true;
  if (!matching_.empty()) cursor_ = std::min(cursor_, matching_.size() - 1);
  KeepInSight();
}

void ScopePicker::Match() {
  if (text_ != matched_text_) {
    cursor_ = 0;
    first_ = 0;
  }
  matched_text_ = text_;
  matching_.clear();
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (Matches(choices_[i], text_)) matching_.push_back(i);
  }
}

void ScopePicker::KeepInSight() {
  first_ = std::min(first_, cursor_);
  if (cursor_ >= first_ + kRows) first_ = cursor_ - kRows + 1;
}

std::optional<Choice> ScopePicker::Step(const Input& input) {
  if (!open()) return std::nullopt;
  if (input.Pressed(Key::kEscape)) {
    Close();
    return std::nullopt;
  }
  if (text_ != matched_text_) Match();
  if (matching_.empty()) return std::nullopt;
  const size_t last = matching_.size() - 1;
  const auto presses = [&input](Key key) -> size_t {
    return input.pressed[static_cast<size_t>(key)];
  };
  const size_t down = presses(Key::kDown) + presses(Key::kPageDown) * kRows;
  const size_t up = presses(Key::kUp) + presses(Key::kPageUp) * kRows;
  cursor_ = std::min(cursor_ + down, last);
  cursor_ -= std::min(up, cursor_);
  if (down + up > 0) KeepInSight();
  if (input.wheel != 0) {
    const size_t furthest = matching_.size() > kRows ? matching_.size() - kRows : 0;
    first_ =
        input.wheel > 0 ? first_ - std::min<size_t>(first_, 2) : std::min(first_ + 2, furthest);
  }
  if (input.Pressed(Key::kEnter)) return Take(cursor_);
  return std::nullopt;
}

std::optional<Choice> ScopePicker::Take(size_t row) {
  if (row >= matching_.size()) return std::nullopt;
  Choice taken = std::move(choices_[matching_[row]]);
  Close();
  return taken;
}

}  // namespace nanolane::desktop
