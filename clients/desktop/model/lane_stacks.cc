#include "clients/desktop/model/lane_stacks.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {

bool LaneStacks::Work(const TimelineModel& model, std::span<const size_t> expanded,
                      size_t most_events, int64_t now_ns) {
  if (model.generation() != generation_) {
    generation_ = model.generation();
    tree_ = FrameTree();
    surveys_.clear();
    expanded_.clear();
    ++shape_version_;
  }
  surveys_.resize(model.lanes().size());
  std::erase_if(expanded_, [expanded](const auto& entry) {
    return std::find(expanded.begin(), expanded.end(), entry.first) == expanded.end();
  });
  size_t done = 0;
  const auto survey = [&](size_t lane) {
    const size_t looked = SurveyLane(model, lane, most_events - std::min(done, most_events));
    done += looked;
    return looked;
  };
  for (const size_t lane : expanded) {
    if (lane >= surveys_.size()) continue;
    while (done < most_events && survey(lane) > 0) {
    }
    if (done < most_events && surveys_[lane].shape.levels > 0) {
      done += Build(model, lane, expanded_[lane], most_events - done, now_ns);
    }
  }
  for (size_t lane = 0; lane < surveys_.size() && done < most_events; ++lane) survey(lane);
  return done < most_events;
}

size_t LaneStacks::SurveyLane(const TimelineModel& model, size_t lane, size_t most_events) {
  const LaneModel& of = *model.lanes()[lane];
  Survey& survey = surveys_[lane];
  if (of.facts.lane.kind != trace::LaneKind::kStream) return 0;
  size_t done = 0;
  for (; done < most_events && survey.blocks < of.events.block_count(); ++survey.blocks) {
    const absl::StatusOr<EventStore::BlockStacks> block = of.events.StacksOf(survey.blocks);
    done += block.ok() ? std::max<size_t>(block->stack.size(), 1) : 1;
    if (!block.ok()) continue;  // a block that cannot be read has no stacks
    const size_t nodes = tree_.size();
    trace::StackId last = 0;
    for (const trace::StackId stack : block->stack) {
      if (std::exchange(last, stack) == stack || stack == 0) continue;
      const FrameTree::Node node = tree_.NodeOf(model, block->dictionary, stack);
      if (node == 0) continue;
      survey.common = survey.any ? tree_.Common(survey.common, node) : node;
      survey.any = true;
      survey.deepest = std::max(survey.deepest, tree_.depth(node));
    }
    done += tree_.size() - nodes;  // a stack that was not seen before costs as much as an event
  }
  Shape shape;
  // Something stays to be seen where all stacks are the same one.
  if (survey.any) shape.folded = std::min(tree_.depth(survey.common), survey.deepest - 1);
  shape.levels = survey.deepest - shape.folded;
  // Not while the lane is half read: rows would come and go.
  if (survey.blocks == of.events.block_count() && shape != survey.shape) {
    survey.shape = shape;
    ++shape_version_;
  }
  return done;
}

size_t LaneStacks::Build(const TimelineModel& model, size_t lane, Expanded& of, size_t most_events,
                         int64_t now_ns) {
  const LaneModel& events = *model.lanes()[lane];
  if (of.next == nullptr) {
    const bool grown = of.shown != nullptr && of.shown->lane_version() != events.version;
    const bool refolded = of.shown != nullptr && of.shown->folded() != surveys_[lane].shape.folded;
    const bool symbols = of.shown != nullptr && of.shown->has_unknown_languages() &&
                         of.dictionary_version != model.dictionary_version();
    const bool due = (grown || symbols) && now_ns - of.begun_ns >= kRenewNs;
    if (of.shown != nullptr && !due && !refolded) return 0;
    of.next = std::make_unique<StackLevels>(events, surveys_[lane].shape.folded);
    of.begun_ns = now_ns;
    of.dictionary_version = model.dictionary_version();
  }
  if (of.next->Work(model, events, tree_, most_events)) {
    of.shown = std::move(of.next);
    of.version = ++built_;
  }
  return most_events;
}

const StackLevels* LaneStacks::Of(size_t lane) const {
  const auto found = expanded_.find(lane);
  return found == expanded_.end() ? nullptr : found->second.shown.get();
}

uint64_t LaneStacks::version(size_t lane) const {
  const auto found = expanded_.find(lane);
  return found == expanded_.end() ? 0 : found->second.version;
}

size_t LaneStacks::MemoryBytes() const {
  size_t bytes = tree_.MemoryBytes() + surveys_.capacity() * sizeof(Survey);
  for (const auto& [lane, of] : expanded_) {
    if (of.shown != nullptr) bytes += of.shown->MemoryBytes();
    if (of.next != nullptr) bytes += of.next->MemoryBytes();
  }
  return bytes;
}

}  // namespace nanolane::desktop
