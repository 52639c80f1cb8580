// A viewer without a window and a hand on its lanes: for tests of what rows and labels do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {

class LaneBench {
 public:
  static constexpr double kWidth = 1'600;
  static constexpr double kHeight = 900;

  void Load(const SessionBuilder& builder) { Apply(LoaderMessages(builder)); }
  void Apply(std::vector<LoaderMessage> messages) {
    for (LoaderMessage& message : messages) model.Apply(std::move(message));
    Settle();
  }
  void Frame() {
    now_ns += 200'000'000;
    viewer.Step({model, failure}, input, kWidth, kHeight, 0.016, now_ns);
    input.pressed.fill(0);
    input.wheel = 0;
  }
  // Frames until nothing moves.
  void Settle() {
    Frame();
    for (int i = 0; i < 10'000 && viewer.moving(); ++i) Frame();
  }

  // The block of that label; null when it is not there.
  const LaneBlock* Block(const std::string& label) const {
    for (const LaneBlock& block : viewer.layout().blocks()) {
      if (block.label == label) return &block;
    }
    return nullptr;
  }
  // Labels of the lanes and summaries from top to bottom.
  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const Row& row : viewer.layout().rows()) {
      if (row.kind != RowKind::kHeader && !row.label.empty()) labels.push_back(row.label);
    }
    return labels;
  }
  // Where the title of that lane's label is, or the row's middle in the label column.
  Point LabelPoint(const std::string& label) const {
    const RowLayout& layout = viewer.layout();
    if (const LaneBlock* block = Block(label); block != nullptr) {
      const LabelBoxes boxes =
          BoxesOf(viewer.screen(), layout, *block, viewer.scroll(), block->pinned, false);
      return {boxes.title.x + 20, boxes.title.y + boxes.title.height / 2};
    }
    for (const Row& row : layout.rows()) {
      if (row.label != label) continue;
      return {40, viewer.screen().lanes.y + layout.OnScreen(row.y, viewer.scroll()) + 8};
    }
    return {-1, -1};
  }
  void MoveTo(const Point& at) {
    input.mouse_x = at.x;
    input.mouse_y = at.y;
    Frame();
  }
  void Click(const Point& at) {
    MoveTo(at);
    input.left_down = true;
    Frame();
    input.left_down = false;
    Settle();
  }
  void RightClick(const Point& at) {
    MoveTo(at);
    input.right_down = true;
    Frame();
    input.right_down = false;
    Settle();
  }
  void Drag(const Point& from, const Point& to) {
    MoveTo(from);
    input.left_down = true;
    Frame();
    MoveTo(to);
    input.left_down = false;
    Settle();
  }
  void Press(Key key) {
    input.pressed[static_cast<size_t>(key)] = 1;
    Frame();
  }
  // Opens the menu of a lane and clicks the item of that text. False: there is none.
  bool Choose(const std::string& label, const std::string& text) {
    RightClick(LabelPoint(label));
    if (!viewer.board().hand().menu().has_value()) return false;
    const LaneMenu menu = *viewer.board().hand().menu();
    for (const LaneMenu::Item& item : menu.items) {
      if (item.text != text || !item.enabled) continue;
      Click({item.box.x + 8, item.box.y + 8});
      return true;
    }
    return false;
  }

  TimelineModel model;
  absl::Status failure;
  Viewer viewer{ViewerOptions{}};
  Input input;
  int64_t now_ns = 0;
};

}  // namespace nanolane::desktop
