// Processes that can be profiled, as a person names and reads them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/collector/v1/collector.pb.h"

namespace nanolane::cli {

// Says how to get a process that can be profiled.
inline constexpr const char* kHowToStart = "start one with \"nanolane run -- CMD\"";

// The process that `text` means: digits are a pid; anything else is the base name of the executable
// or, where none has it, a part of the command line. NOT_FOUND says what there is, INVALID_ARGUMENT
// (several fit) which they are.
absl::StatusOr<nanolane::collector::v1::Process> FindProcess(
    const std::vector<nanolane::collector::v1::Process>& processes, std::string_view text);

// Command line in one line, without the folder of the program; the executable's name where it is
// not known.
std::string CommandText(const nanolane::collector::v1::Process& process);

// "0 H200", "0–7 H200", "0 H200, 1 A100"; "-" where CUDA has not answered yet.
std::string GpusText(const nanolane::collector::v1::Process& process);

// "ready", "capturing", "refused".
std::string StateName(const nanolane::collector::v1::Process& process);

// As StateName, with the reason: "refused: why".
std::string StateText(const nanolane::collector::v1::Process& process);

// First digits of a container's id; "-": none.
std::string ContainerText(const nanolane::collector::v1::Process& process);

}  // namespace nanolane::cli
