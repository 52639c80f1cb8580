// The simulated program under `nanolane run`, in a folder of its own. In its script "$DIR" stands
// for that folder. It is driven by files that it waits for (Touch) and tells where it is by what it
// says (WaitSaid).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/live_capture/support/child_process.h"
#include "tests/live_capture/support/deeds.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {

struct SimOptions {
  std::string socket;
  std::string script;
  std::map<std::string, std::string> environment;
  std::string program;  // empty: sim_program as it was built
};

class SimProcess {
 public:
  explicit SimProcess(const SimOptions& options);

  uint64_t pid() const { return static_cast<uint64_t>(child_->pid()); }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Touch(const std::string& name) const;
  bool WaitSaid(const std::string& text) { return child_->WaitForLine(text); }
  void Signal(int signal) const { child_->Signal(signal); }
  ChildExit Wait() { return child_->Wait(); }
  uint64_t PeakBytes() const { return child_->PeakBytes(); }

  // Once it has ended, or has said something since.
  std::vector<Deed> Truth() const { return ReadDeeds(Path("truth")); }
  std::string Errors() const;

 private:
  TempFolder folder_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace nanolane::testing
