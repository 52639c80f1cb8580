// The stacks of a model's dictionaries as one tree, so that the stack of any event is a node, and
// what two of them share is their nearest common ancestor.
//
// Dictionaries of different writer epochs number the same frames differently: here frames are equal
// when they were seen as the same (module and offset), whichever epoch they came with. Grows with
// what is asked; a node never changes. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

// Where a frame is written down.
struct FramePlace {
  uint32_t dictionary = 0;  // index of the model's dictionaries
  trace::FrameId frame = 0;
};

class FrameTree {
 public:
  // 0 is the root: no stack at all.
  using Node = uint32_t;

  FrameTree() : nodes_(1) {}

  // The node of `stack` in dictionary `dictionary` of `model`; the root where there is none. O(1)
  // when it was asked before, else O(its depth).
  Node NodeOf(const TimelineModel& model, uint32_t dictionary, trace::StackId stack);

  // Nodes so far, the root among them.
  size_t size() const { return nodes_.size(); }
  uint32_t depth(Node node) const { return nodes_[node].depth; }  // frames; the root has 0
  Node parent(Node node) const { return nodes_[node].parent; }
  // The innermost frame of a node other than the root.
  const FramePlace& FrameOf(Node node) const { return frames_[nodes_[node].frame]; }
  // The deepest node that both have in common. O(depth).
  Node Common(Node a, Node b) const;

  // Heap bytes held, about.
  size_t MemoryBytes() const;

 private:
  struct Entry {
    Node parent = 0;
    uint32_t frame = 0;
    uint32_t depth = 0;
  };

  uint32_t FrameNumber(const trace::Dictionary& dictionary, const FramePlace& place);
  Node Child(Node parent, uint32_t frame);

  std::vector<Entry> nodes_;
  std::vector<FramePlace> frames_;
  std::vector<std::vector<Node>> node_of_stack_;  // by dictionary and stack
  absl::flat_hash_map<std::pair<uint32_t, trace::FrameId>, uint32_t> frame_of_id_;
  absl::flat_hash_map<std::pair<std::string, uint64_t>, uint32_t> frame_of_content_;
  absl::flat_hash_map<std::pair<Node, uint32_t>, Node> child_;
};

}  // namespace nanolane::desktop
