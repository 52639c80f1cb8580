// Exit codes that a status does not say by itself: they travel in it as a payload, so that commands
// return what went wrong and main() alone ends the program.
#pragma once

#include "absl/status/status.h"

namespace nanolane::cli {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
// As shells say them of a command that they could not start.
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNoSuchCommand = 127;

// `status`, which is not OK, with the code that the program is to end with.
absl::Status WithExitCode(absl::Status status, int code);

// 0 for OK; else the code that WithExitCode gave, or what the status means: wrong usage for
// INVALID_ARGUMENT, failure for the rest.
int ExitCodeOf(const absl::Status& status);

}  // namespace nanolane::cli
