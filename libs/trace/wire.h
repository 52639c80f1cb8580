// The event model to and from its protos (nanolane.trace.v1).
//
// FromProto checks what comes from outside: enum values that are not known here become the
// unspecified one (a newer writer's), repeated fields of a fixed length are cut or padded.
#pragma once

#include <cstddef>
#include <vector>

#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::trace {

void ToProto(const DictionaryDelta& delta, v1::DictionaryDelta& proto);
DictionaryDelta FromProto(const v1::DictionaryDelta& proto);

// Cuts a delta into pieces of at most about `max_bytes` each, to be applied in this order. No piece
// for an empty delta.
std::vector<v1::DictionaryDelta> SplitDelta(v1::DictionaryDelta delta, size_t max_bytes);

void ToProto(const Lane& lane, v1::Lane& proto);
Lane FromProto(const v1::Lane& proto);

void ToProto(const Op& op, v1::Op& proto);
Op FromProto(const v1::Op& proto);

EventKind FromProto(v1::EventKind kind);
v1::EventKind ToProto(EventKind kind);

}  // namespace nanolane::trace
