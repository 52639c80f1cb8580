// The event model to and from its protos (nanolane.trace.v1).
//
// FromProto checks what comes from outside: enum values that are not known here become the
// unspecified one (a newer writer's), repeated fields of a fixed length are cut or padded.
#pragma once

#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::trace {

void ToProto(const DictionaryDelta& delta, v1::DictionaryDelta& proto);
DictionaryDelta FromProto(const v1::DictionaryDelta& proto);

void ToProto(const Lane& lane, v1::Lane& proto);
Lane FromProto(const v1::Lane& proto);

void ToProto(const Op& op, v1::Op& proto);
Op FromProto(const v1::Op& proto);

EventKind FromProto(v1::EventKind kind);
v1::EventKind ToProto(EventKind kind);

}  // namespace nanolane::trace
