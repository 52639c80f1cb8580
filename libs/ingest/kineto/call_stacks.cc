#include "libs/ingest/kineto/call_stacks.h"

#include <algorithm>

namespace nanolane::ingest::kineto {

CallStacks::Stack& CallStacks::StackOf(ThreadIndex thread) {
  if (thread >= stacks_.size()) stacks_.resize(thread + 1);
  return stacks_[thread];
}

void CallStacks::PopUntil(Stack& stack, int64_t time_ns) {
  while (!stack.empty() && stack.back().end_ns <= time_ns) stack.pop_back();
}

void CallStacks::Push(ThreadIndex thread, FrameSource source, NameId name, int64_t start_ns,
                      int64_t duration_ns) {
  Stack& stack = StackOf(thread);
  PopUntil(stack, start_ns);
  int64_t end_ns = trace::EndOf(start_ns, duration_ns);
  if (!stack.empty()) end_ns = std::min(end_ns, stack.back().end_ns);
  if (stack.size() < kMaxDepth) {
    stack.push_back({.end_ns = end_ns, .name = name, .source = source});
  }
}

trace::StackId CallStacks::At(ThreadIndex thread, int64_t time_ns) {
  Stack& stack = StackOf(thread);
  PopUntil(stack, time_ns);
  return Intern(stack);
}

trace::StackId CallStacks::OfLastPush(ThreadIndex thread) { return Intern(StackOf(thread)); }

trace::StackId CallStacks::Intern(Stack& stack) {
  size_t known = stack.size();
  while (known > 0 && stack[known - 1].node == 0) --known;
  trace::StackId node = known > 0 ? stack[known - 1].node : 0;
  for (size_t i = known; i < stack.size(); ++i) {
    Open& open = stack[i];
    node = dictionary_.Intern(
        trace::StackNode{.parent = node, .frame = InternFrame(open.source, open.name)});
    open.node = node;
  }
  return node;
}

trace::FrameId CallStacks::InternFrame(FrameSource source, NameId name) {
  std::vector<trace::FrameId>& known = frames_[static_cast<size_t>(source)];
  if (name >= known.size()) known.resize(names_.size());
  if (known[name] != 0) return known[name];
  const std::string_view text = names_.Text(name);
  // The recorder's own text tells two functions on one line apart, which file and line do not.
  const trace::FrameId frame =
      dictionary_.Intern(trace::Frame{.module = dictionary_.Intern(text), .offset = 0});
  const FrameFacts facts = FrameFactsOf(text, source);
  dictionary_.SetSymbol(frame, {.function = dictionary_.Intern(facts.function),
                                .file = dictionary_.Intern(facts.file),
                                .line = facts.line,
                                .language = facts.language,
                                .category = facts.category});
  known[name] = frame;
  return frame;
}

}  // namespace nanolane::ingest::kineto
