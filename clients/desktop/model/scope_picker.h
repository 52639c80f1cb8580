// An open list of choices: typed text narrows it, arrows move through it, Enter takes one, Escape
// closes it. Without ImGui; the view draws it and gives it clicks. UI thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/input.h"
#include "clients/desktop/model/scope_choices.h"

namespace nanolane::desktop {

class ScopePicker {
 public:
  static constexpr size_t kRows = 9;  // in sight at once

  void Open(ScopePart part);
  void Close();
  bool open() const { return part_.has_value(); }
  std::optional<ScopePart> part() const { return part_; }

  // Typed into; the view's text field writes here.
  std::string& text() { return text_; }
  const std::string& text() const { return text_; }

  // What there is now; the list may change while it is open. The cursor begins at what is chosen
  // and stays at the choice where it was.
  void SetChoices(std::vector<Choice> choices);
  const std::vector<Choice>& choices() const { return choices_; }
  // Positions of the choices that match the text.
  const std::vector<size_t>& matching() const { return matching_; }

  // One frame's keys and wheel. The choice that was taken, if one was.
  std::optional<Choice> Step(const Input& input);
  // The one at `row` of matching().
  std::optional<Choice> Take(size_t row);

  size_t cursor() const { return cursor_; }  // in matching()
  size_t first() const { return first_; }    // row at the top
  void PointAt(size_t row) { cursor_ = row; }

 private:
  void Match();
  void KeepInSight();

  std::optional<ScopePart> part_;
  std::string text_;
  std::string matched_text_;
  std::vector<Choice> choices_;
  std::vector<size_t> matching_;
  size_t cursor_ = 0;
  size_t first_ = 0;
  bool placed_ = false;  // the cursor has its place
};

}  // namespace nanolane::desktop
