#include "clients/cli/run/injection.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "absl/strings/str_join.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::cli {
namespace {

namespace fs = std::filesystem;

bool IsReadableFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), R_OK) == 0;
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// An empty variable says as little as none.
std::string ValueOf(const Environment& environment, const std::string& name) {
  return environment(name).value_or("");
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

absl::StatusOr<std::string> NamedLibrary(const std::string& path, const std::string& how) {
  if (IsReadableFile(path)) return Absolute(path);
  return absl::NotFoundError(base::StrCat("no injection library at ", path, ", which ", how,
                                          " names: it must be a file that can be read"));
}

absl::Status CheckOtherTool(const char* variable, const InjectionOptions& options,
                            const Environment& environment) {
  const std::string set = ValueOf(environment, variable);
  if (set.empty() || options.replace || IsSameFile(set, options.library)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      base::StrCat(variable, " names ", set,
                   " already, and a process loads one injection library: unset it, or give "
                   "--replace-injection to use Nanolane's instead"));
}

}  // namespace

absl::StatusOr<std::string> FindInjectionLibrary(const std::string& named,
                                                 const Environment& environment,
                                                 const std::string& program_folder) {
  if (!named.empty()) return NamedLibrary(named, "--library");
  const std::string from_environment = ValueOf(environment, kLibraryVariable);
  if (!from_environment.empty()) {
    return NamedLibrary(from_environment, base::StrCat("$", kLibraryVariable));
  }
  std::vector<std::string> looked;
  for (const char* folder : {"", "../lib", "../lib/nanolane"}) {
    const std::string path =
        (fs::path(program_folder) / folder / kInjectionLibrary).lexically_normal().string();
    if (IsReadableFile(path)) return Absolute(path);
    looked.push_back(path);
  }
  return absl::NotFoundError(base::StrCat("no injection library at ", absl::StrJoin(looked, ", "),
                                          "; say where it is with --library or $",
                                          kLibraryVariable));
}

std::string ChooseSocket(const std::string& named, const Environment& environment,
                         const std::string& machine_socket) {
  if (!named.empty()) return Absolute(named);
  if (!ValueOf(environment, kSocketVariable).empty()) return "";
  if (::access(machine_socket.c_str(), W_OK) == 0) return "";
  const std::string runtime = ValueOf(environment, "XDG_RUNTIME_DIR");
  if (runtime.empty()) return "";
  const std::string own = runtime + "/nanolane/collector.sock";
  return ::access(own.c_str(), W_OK) == 0 ? own : "";
}

absl::StatusOr<std::map<std::string, std::string>> InjectionVariables(
    const InjectionOptions& options, const Environment& environment) {
  if (options.project.size() > kLongestProject) {
    return absl::InvalidArgumentError(base::StrCat("the project's name has ",
                                                   options.project.size(), " bytes; at most ",
                                                   kLongestProject, " are possible"));
  }
  RETURN_IF_ERROR(CheckOtherTool(kCudaInjection, options, environment));
  RETURN_IF_ERROR(CheckOtherTool(kNvtxInjection, options, environment));
  std::map<std::string, std::string> variables = {{kCudaInjection, options.library},
                                                  {kNvtxInjection, options.library}};
  if (!options.socket.empty()) variables[kSocketVariable] = options.socket;
  if (!options.project.empty()) variables[kProjectVariable] = options.project;
  return variables;
}

}  // namespace nanolane::cli
