#include "tests/simulated_gpu/program/runner.h"

#include <absl/strings/numbers.h>

#include <map>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {

Runner::Handler Runner::HandlerOf(std::string_view name) {
  static const std::map<std::string_view, Handler> kHandlers = {
      {"say", &Runner::RunSay},
      {"wait-file", &Runner::RunWaitFile},
      {"sleep", &Runner::RunSleep},
      {"threads", &Runner::RunThreads},
      {"loop", &Runner::RunLoop},
      {"loop-until-file", &Runner::RunLoopUntilFile},
      {"fork", &Runner::RunFork},
      {"close-descriptors", &Runner::RunCloseDescriptors},
      {"exit", &Runner::RunExit},
      {"quick-exit", &Runner::RunQuickExit},
      {"inject", &Runner::RunInject},
      {"fault", &Runner::RunFault},
      {"hold-subscription", &Runner::RunHold},
      {"release-subscription", &Runner::RunReleaseHold},
      {"break-cupti", &Runner::RunBreak},
      {"init", &Runner::RunInit},
      {"device", &Runner::RunDevice},
      {"stream", &Runner::RunStream},
      {"launch", &Runner::RunLaunch},
      {"storm", &Runner::RunStorm},
      {"copy", &Runner::RunCopy},
      {"peer", &Runner::RunPeer},
      {"set", &Runner::RunSet},
      {"graph", &Runner::RunGraph},
      {"launch-graph", &Runner::RunGraphLaunch},
      {"event", &Runner::RunEvent},
      {"record", &Runner::RunRecord},
      {"sync", &Runner::RunSync},
      {"sync-device", &Runner::RunSyncDevice},
      {"sync-event", &Runner::RunSyncEvent},
      {"query", &Runner::RunQuery},
      {"wait-event", &Runner::RunWaitEvent},
      {"pool", &Runner::RunPool},
      {"malloc", &Runner::RunMalloc},
      {"free", &Runner::RunFree},
      {"malloc-async", &Runner::RunMallocAsync},
      {"free-async", &Runner::RunFreeAsync},
      {"push", &Runner::RunPush},
      {"pop", &Runner::RunPop},
      {"mark", &Runner::RunMark},
      {"range-start", &Runner::RunRangeStart},
      {"range-end", &Runner::RunRangeEnd},
  };
  const auto found = kHandlers.find(name);
  return found == kHandlers.end() ? nullptr : found->second;
}

absl::Status Runner::Run(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    const Handler handler = HandlerOf(command.name);
    if (handler == nullptr) return Wrong(command, "is not a command");
    RETURN_IF_ERROR((this->*handler)(command));
  }
  return absl::OkStatus();
}

Stream* Runner::StreamNamed(const std::string& name) {
  if (name == "default") return &DefaultStream();
  if (name == "per-thread") return &PerThreadStream();
  const auto found = names_.streams.find(name);
  return found == names_.streams.end() ? nullptr : found->second;
}

void Runner::Do(Deed deed, uint64_t count, const std::function<Call()>& call) {
  for (uint64_t i = 0; i < count; ++i) {
    deed.before_ns = MonotonicNow();
    const Call made = call();
    deed.after_ns = MonotonicNow();
    deed.correlation = made.correlation;
    deed.result = made.result;
    truth_.Add(deed);
  }
}

absl::Status Runner::Wrong(const Command& command, std::string_view what) const {
  return absl::InvalidArgumentError(
      base::StrCat("line ", command.line, ": ", command.name, " ", what));
}

absl::Status ReadNumber(const std::string* text, int64_t& number) {
  if (text == nullptr) return absl::OkStatus();
  if (absl::SimpleAtoi(*text, &number)) return absl::OkStatus();
  return absl::InvalidArgumentError(base::StrCat(*text, " is not a number"));
}

const std::string& WordAt(const Command& command, size_t index) {
  static const auto* const kNone = new std::string;
  return index < command.words.size() ? command.words[index] : *kNone;
}

}  // namespace nanolane::sim
