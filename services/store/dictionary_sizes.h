// Sizes of dictionary tables to and from their proto.
#pragma once

#include "libs/trace/dictionary.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::store {

inline trace::DictionarySizes FromProto(const v1::DictionarySizes& sizes) {
  return {.strings = sizes.strings(),
          .frames = sizes.frames(),
          .stacks = sizes.stacks(),
          .ops = sizes.ops()};
}

inline void ToProto(const trace::DictionarySizes& sizes, v1::DictionarySizes& to) {
  to.set_strings(sizes.strings);
  to.set_frames(sizes.frames);
  to.set_stacks(sizes.stacks);
  to.set_ops(sizes.ops);
}

}  // namespace nanolane::store
