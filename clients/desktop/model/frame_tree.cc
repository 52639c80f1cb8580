#include "clients/desktop/model/frame_tree.h"

#include <limits>

namespace nanolane::desktop {
namespace {

constexpr FrameTree::Node kNotAsked = std::numeric_limits<FrameTree::Node>::max();

}  // namespace

FrameTree::Node FrameTree::NodeOf(const TimelineModel& model, uint32_t dictionary,
                                  trace::StackId stack) {
  if (stack == 0) return 0;
  if (dictionary >= node_of_stack_.size()) node_of_stack_.resize(dictionary + 1);
  std::vector<Node>& known = node_of_stack_[dictionary];
  const trace::Dictionary& tables = model.dictionary(dictionary);
  if (stack > tables.stack_count()) return 0;
  if (known.size() <= tables.stack_count()) known.resize(tables.stack_count() + 1, kNotAsked);
  // Outwards to what is known, and back in.
  std::vector<trace::StackId> inner;
  trace::StackId at = stack;
  while (at != 0 && known[at] == kNotAsked) {
    inner.push_back(at);
    at = tables.Stack(at).parent;
  }
  Node node = at == 0 ? 0 : known[at];
  for (; !inner.empty(); inner.pop_back()) {
    node = Child(node, FrameNumber(tables, {dictionary, tables.Stack(inner.back()).frame}));
    known[inner.back()] = node;
  }
  return node;
}

uint32_t FrameTree::FrameNumber(const trace::Dictionary& dictionary, const FramePlace& place) {
  const auto [found, added] = frame_of_id_.try_emplace({place.dictionary, place.frame}, 0);
  if (!added) return found->second;
  const trace::Frame& frame = dictionary.FrameOf(place.frame);
  const auto [same, fresh] = frame_of_content_.try_emplace(
      {dictionary.String(frame.module), frame.offset}, static_cast<uint32_t>(frames_.size()));
  if (fresh) frames_.push_back(place);
  found->second = same->second;
  return found->second;
}

FrameTree::Node FrameTree::Child(Node parent, uint32_t frame) {
  const auto [found, added] = child_.try_emplace({parent, frame}, static_cast<Node>(nodes_.size()));
  if (added) nodes_.push_back({parent, frame, nodes_[parent].depth + 1});
  return found->second;
}

FrameTree::Node FrameTree::Common(Node a, Node b) const {
  while (a != b) {
    // The deeper one is no ancestor of the other; of two as deep, neither is.
    if (nodes_[a].depth >= nodes_[b].depth) {
      a = nodes_[a].parent;
    } else {
      b = nodes_[b].parent;
    }
  }
  return a;
}

size_t FrameTree::MemoryBytes() const {
  size_t bytes = nodes_.capacity() * sizeof(Entry) + frames_.capacity() * sizeof(FramePlace) +
                 child_.size() * 16 + frame_of_id_.size() * 16 + frame_of_content_.size() * 64;
  for (const auto& known : node_of_stack_) bytes += known.capacity() * sizeof(Node);
  return bytes;
}

}  // namespace nanolane::desktop
