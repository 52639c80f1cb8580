// Frames of a trace's host stacks, from the texts that the profiler wrote.
#pragma once

#include <cstdint>
#include <string_view>

#include "libs/trace/model.h"

namespace nanolane::ingest::kineto {

enum class FrameSource : uint8_t { kPython = 0, kOperator = 1, kRuntimeCall = 2, kDriverCall = 3 };

struct FrameFacts {
  std::string_view function;
  std::string_view file;  // empty: not known
  uint32_t line = 0;
  trace::Language language = trace::Language::kUnknown;
  trace::FrameCategory category = trace::FrameCategory::kUnknown;
};

// "torch/nn/modules/module.py(2784): children" → function, file, line. "nn.Module: Linear_24" and
// "<built-in function len>" are functions without a file. Views into `text`.
FrameFacts FrameFactsOf(std::string_view text, FrameSource source);

// Whether Python code of this file belongs to a framework or to Python itself rather than to the
// application. The profiler cuts the module search path off, so that files of packages begin with
// the package's name.
bool IsFrameworkFile(std::string_view file);

// "<built-in method append of list object at 0x7f54>" names each list apart; without the address
// the frames of one call site are one frame. Returns the length of the part in front of " at 0x",
// or 0 where nothing is to be cut; what was cut is replaced by ">".
size_t AddressCut(std::string_view name);

}  // namespace nanolane::ingest::kineto
