// The stacks of the host threads of one process, frame by frame in order of time, as nodes of the
// session's calling-context tree.
//
// Frames nest by time: a frame ends with its duration, or with the frame that it is in where it
// would outlast it. Nodes are interned only when somebody asks for a stack: of half a million
// Python frames most are never on the stack of a launch. Amortized O(1) for each frame.
// Thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libs/ingest/kineto/frame_names.h"
#include "libs/ingest/kineto/records.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"

namespace nanolane::ingest::kineto {

class CallStacks {
 public:
  // Deeper frames are left out.
  static constexpr size_t kMaxDepth = 4'096;

  CallStacks(const NameTable& names, trace::DictionaryBuilder& dictionary)
      : names_(names), dictionary_(dictionary) {}

  // Starts of one thread must not decrease over all calls.
  void Push(ThreadIndex thread, FrameSource source, NameId name, int64_t start_ns,
            int64_t duration_ns);

  // The stack of the thread at this time; 0: no frame is open.
  trace::StackId At(ThreadIndex thread, int64_t time_ns);

  // The stack that ends with the frame pushed last, which may be of zero length.
  trace::StackId OfLastPush(ThreadIndex thread);

 private:
  struct Open {
    int64_t end_ns = 0;
    NameId name = 0;
    FrameSource source = FrameSource::kPython;
    trace::StackId node = 0;  // 0: not interned yet
  };
  using Stack = std::vector<Open>;

  Stack& StackOf(ThreadIndex thread);
  static void PopUntil(Stack& stack, int64_t time_ns);
  trace::StackId Intern(Stack& stack);
  trace::FrameId InternFrame(FrameSource source, NameId name);

  const NameTable& names_;
  trace::DictionaryBuilder& dictionary_;
  std::vector<Stack> stacks_;  // by thread
  // By source and name; 0: not interned yet.
  std::array<std::vector<trace::FrameId>, 4> frames_;
};

}  // namespace nanolane::ingest::kineto
