// What can be recorded: the API's names and the wire's bits for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/collector/v1/collector.pb.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

// Bits of wire::Kinds; nothing: all. INVALID_ARGUMENT for one that is not known.
absl::StatusOr<uint32_t> KindBits(const google::protobuf::RepeatedField<int>& kinds);

// In the order of their bits.
std::vector<nanolane::collector::v1::CaptureKind> KindsOf(uint32_t bits);

// "kernel,memcpy,…"
std::string KindNames(uint32_t bits);

// By such a name. INVALID_ARGUMENT lists the names there are.
absl::StatusOr<nanolane::collector::v1::CaptureKind> KindByName(const std::string& name);

}  // namespace nanolane::collector
