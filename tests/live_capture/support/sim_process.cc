#include "tests/live_capture/support/sim_process.h"

#include <absl/strings/str_replace.h>

#include <fstream>
#include <sstream>

#include "tests/support/server_process.h"

namespace nanolane::testing {

SimProcess::SimProcess(const SimOptions& options) {
  std::ofstream(Path("script")) << absl::StrReplaceAll(options.script,
                                                       {{"$DIR", folder_.path().c_str()}});
  const std::string program = options.program.empty() ? SIM_PROGRAM : options.program;
  child_ = std::make_unique<ChildProcess>(ChildOptions{
      .arguments = {SiblingBinary("nanolane"), "run", "--socket", options.socket,
                    "--replace-injection", "--", program, Path("script"), Path("truth")},
      .environment = options.environment,
      .errors = Path("errors")});
}

void SimProcess::Touch(const std::string& name) const { std::ofstream(Path(name)) << "\n"; }

std::string SimProcess::Errors() const {
  std::ostringstream text;
  text << std::ifstream(Path("errors")).rdbuf();
  return text.str();
}

}  // namespace nanolane::testing
