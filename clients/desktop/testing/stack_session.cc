#include "clients/desktop/testing/stack_session.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace nanolane::desktop {

trace::StackId AddStack(SessionBuilder& builder, const std::vector<std::string>& functions) {
  trace::DictionaryBuilder& dictionary = builder.dictionary();
  trace::StackId stack = 0;
  for (const std::string& function : functions) {
    const bool python = !absl::StartsWith(function, "c++ ");
    const trace::FrameId frame =
        dictionary.Intern(trace::Frame{.module = dictionary.Intern(function), .offset = 7});
    dictionary.SetSymbol(
        frame, {.function = dictionary.Intern(python ? function : function.substr(4)),
                .file = dictionary.Intern(python ? absl::StrCat("/src/", function, ".py") : ""),
                .line = python ? 7U : 0U,
                .language = python ? trace::Language::kPython : trace::Language::kCpp});
    stack = dictionary.Intern(trace::StackNode{.parent = stack, .frame = frame});
  }
  return stack;
}

SessionBuilder StackSession(size_t events, size_t depth) {
  SessionBuilder builder;
  const trace::LaneId with = builder.AddLane(
      {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 7});
  const trace::LaneId without = builder.AddLane(
      {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 14});
  const trace::OpId op = builder.AddKernel("sgemm");
  for (size_t i = 0; i < events; ++i) {
    std::vector<std::string> functions = {"main", "train", "step"};
    // Inner frames change more often than outer ones.
    for (size_t level = 0; level < depth; ++level) {
      const size_t period = size_t{4} << (depth - 1 - level);
      functions.push_back(
          absl::StrCat(level % 2 == 0 ? "" : "c++ ", "f", level, "_", i / period % 3));
    }
    const auto start = static_cast<int64_t>(i) * 2'000;
    builder.Add(
        with,
        {.op = op, .start_ns = start, .duration_ns = 1'000, .stack = AddStack(builder, functions)});
    builder.Add(without, {.op = op, .start_ns = start, .duration_ns = 1'000});
  }
  return builder;
}

}  // namespace nanolane::desktop
