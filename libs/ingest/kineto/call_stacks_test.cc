#include "libs/ingest/kineto/call_stacks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace nanolane::ingest::kineto {
namespace {

class Fixture {
 public:
  void Push(const std::string& name, int64_t start, int64_t duration, ThreadIndex thread = 0,
            FrameSource source = FrameSource::kOperator) {
    stacks.Push(thread, source, names.Intern(name), start, duration);
  }
  std::string At(int64_t time, ThreadIndex thread = 0) { return Text(stacks.At(thread, time)); }
  std::string Text(trace::StackId stack) {
    std::string text;
    for (const trace::FrameId frame : dictionary.tables().Frames(stack)) {
      text += dictionary.tables().String(dictionary.tables().SymbolOf(frame).function) + " ";
    }
    return text;
  }

  NameTable names;
  trace::DictionaryBuilder dictionary;
  CallStacks stacks{names, dictionary};
};

TEST_CASE("frames nest by time and end with their durations") {
  Fixture f;
  f.Push("a", 0, 100);
  f.Push("b", 10, 20);
  CHECK(f.At(15) == "a b ");
  CHECK(f.At(30) == "a ");
  f.Push("c", 40, 10);
  CHECK(f.At(49) == "a c ");
  CHECK(f.At(100).empty());
}

TEST_CASE("a frame that would outlast the frame that it is in ends with it") {
  Fixture f;
  f.Push("a", 0, 50);
  f.Push("b", 40, 100);
  CHECK(f.At(45) == "a b ");
  CHECK(f.At(50).empty());
}

TEST_CASE("a frame of no length has a stack of its own and is nobody's parent") {
  Fixture f;
  f.Push("a", 0, 50);
  f.Push("call", 10, 0, 0, FrameSource::kRuntimeCall);
  CHECK(f.Text(f.stacks.OfLastPush(0)) == "a call ");
  f.Push("b", 10, 5);
  CHECK(f.At(10) == "a b ");
}

TEST_CASE("threads do not share frames") {
  Fixture f;
  f.Push("a", 0, 50, 0);
  f.Push("b", 0, 50, 1);
  CHECK(f.At(10, 0) == "a ");
  CHECK(f.At(10, 1) == "b ");
  CHECK(f.At(10, 7).empty());
}

TEST_CASE("only stacks that somebody asked for enter the dictionary") {
  Fixture f;
  f.Push("a", 0, 1'000'000);
  for (int64_t i = 0; i < 10'000; ++i) f.Push("leaf " + std::to_string(i), 10 * i, 5);
  CHECK(f.dictionary.tables().stack_count() == 0);
  CHECK(f.At(99'991) == "a leaf 9999 ");
  CHECK(f.dictionary.tables().stack_count() == 2);
  CHECK(f.dictionary.tables().frame_count() == 2);
}

TEST_CASE("an endless nest is cut at a bound") {
  Fixture f;
  for (int64_t i = 0; i < 20'000; ++i) f.Push("f", i, 1'000'000);
  CHECK(f.dictionary.tables().Frames(f.stacks.At(0, 20'000)).size() == CallStacks::kMaxDepth);
}

TEST_CASE("random frames give the stacks that a naive search gives") {
  std::mt19937 random(21);
  for (int round = 0; round < 200; ++round) {
    struct Span {
      int64_t start, end;
      std::string name;
    };
    std::vector<Span> spans;
    Fixture f;
    int64_t now = 0;
    for (int i = 0; i < 60; ++i) {
      now += static_cast<int64_t>(random() % 5);
      const auto duration = static_cast<int64_t>(random() % 40);
      int64_t end = now + duration;
      // The innermost frame that is still open bounds the new one.
      for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        if (span->end > now) {
          end = std::min(end, span->end);
          break;
        }
      }
      spans.push_back({now, end, "f" + std::to_string(i)});
      f.Push(spans.back().name, now, duration);
      if (random() % 3 == 0) {
        std::string expected;
        for (const Span& span : spans) {
          if (span.start <= now && span.end > now) expected += span.name + " ";
        }
        CHECK(f.At(now) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace nanolane::ingest::kineto
