// What makes a process profilable: the injection library, found on this machine, and the variables
// through which CUDA and NVTX load it. Pure but for looking at files; the environment is handed in.
// Thread-compatible.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace nanolane::cli {

inline constexpr const char* kInjectionLibrary = "libnanolane_inject.so";
// The variables that the injection library and CUDA read.
inline constexpr const char* kCudaInjection = "CUDA_INJECTION64_PATH";
inline constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";
inline constexpr const char* kSocketVariable = "NANOLANE_SOCKET";
inline constexpr const char* kProjectVariable = "NANOLANE_PROJECT";
// Where the user says that the library lies.
inline constexpr const char* kLibraryVariable = "NANOLANE_INJECT_LIBRARY";
// Where the library looks for the collector unless it is told.
inline constexpr const char* kDefaultSocket = "/run/nanolane/collector.sock";
// What the library can tell the collector, in bytes.
inline constexpr size_t kLongestProject = 127;

// Value of a variable; none where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Absolute path of the library: `named` (--library) or else $NANOLANE_INJECT_LIBRARY, and where
// neither says anything beside the program, which lies in `program_folder`, or in the lib folders
// next to it. NOT_FOUND says where it was looked for; a place that the user names is the only one.
absl::StatusOr<std::string> FindInjectionLibrary(const std::string& named,
                                                 const Environment& environment,
                                                 const std::string& program_folder);

// Socket to tell the library of; empty: its own default (or what the environment says) will do.
// `named` (--socket) is made absolute, because the process may change its folder. Without it the
// socket of the user's own collector is taken where that of the machine cannot be used.
std::string ChooseSocket(const std::string& named, const Environment& environment,
                         const std::string& machine_socket = kDefaultSocket);

struct InjectionOptions {
  std::string library;  // absolute
  std::string socket;   // empty: not said
  std::string project;  // empty: not said
  // Whether another tool's library may be replaced.
  bool replace = false;
};

// Variables to set. FAILED_PRECONDITION where another tool's injection library is set already: CUDA
// loads one, so one of the two tools would silently see nothing. INVALID_ARGUMENT: the project.
absl::StatusOr<std::map<std::string, std::string>> InjectionVariables(
    const InjectionOptions& options, const Environment& environment);

}  // namespace nanolane::cli
