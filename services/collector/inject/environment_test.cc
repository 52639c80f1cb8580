#include "services/collector/inject/environment.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "catch2/catch.hpp"

namespace nanolane::inject {
namespace {

constexpr const char* kName = "NANOLANE_PROJECT";

std::string Project() {
  const char* value = ValueOf(Variable::kProject);
  return value != nullptr ? value : "(none)";
}

// 0, or which step found something else.
int CopyInSteps() {
  setenv(kName, "", 1);
  CopyEnvironment();
  if (Project() != "(none)") return 1;
  setenv(kName, std::string(1'024, 'x').c_str(), 1);
  CopyEnvironment();
  if (Project() != "(none)") return 2;
  const std::string longest(1'023, 'x');
  setenv(kName, longest.c_str(), 1);
  CopyEnvironment();
  if (Project() != longest) return 3;
  setenv(kName, "first", 1);
  CopyEnvironment();
  setenv(kName, "second", 1);
  if (Project() != "first") return 4;
  unsetenv(kName);
  return Project() == "first" ? 0 : 5;
}

}  // namespace

TEST_CASE("variables have the value that they had when they were copied") {
  // What is copied stays for the rest of a process.
  const pid_t child = fork();
  if (child == 0) _exit(CopyInSteps());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace nanolane::inject
