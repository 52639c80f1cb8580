#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "clients/cli/capture/capture_report.h"
#include "clients/cli/capture/capture_request.h"
#include "clients/cli/capture/processes.h"
#include "clients/cli/exit_code.h"
#include "clients/cli/output/table.h"
#include "clients/cli/run/injection.h"

namespace nanolane::cli {
namespace {

namespace fs = std::filesystem;
namespace collector_v1 = nanolane::collector::v1;
using Catch::Matchers::Contains;
using collector_v1::Process;

Process MakeProcess(uint64_t pid, const std::string& executable,
                    const std::vector<std::string>& command_line) {
  Process process;
  process.set_pid(pid);
  process.set_executable(executable);
  for (const std::string& argument : command_line) process.add_command_line(argument);
  return process;
}

void AddGpu(Process& process, int index, const std::string& name) {
  process.add_gpus()->set_index(index);
  process.mutable_gpus()->rbegin()->set_name(name);
}

Environment Of(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// A folder with files in it, which goes with its owner.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "nanolane-cli-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }

  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  std::string Make(const std::string& name) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << "x";
    return Path(name);
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a capture lasts more than nothing and at most ten minutes") {
  CHECK(*ParseCaptureDuration("30s") == 30'000'000'000);
  CHECK(*ParseCaptureDuration("500ms") == 500'000'000);
  CHECK(*ParseCaptureDuration("1m30s") == 90'000'000'000);
  CHECK(*ParseCaptureDuration("10m") == 600'000'000'000);
  for (const char* bad : {"", "30", "0s", "-1s", "10m1ns", "1h", "30s1m"}) {
    CAPTURE(bad);
    CHECK(absl::IsInvalidArgument(ParseCaptureDuration(bad).status()));
  }
  CHECK_THAT(std::string(ParseCaptureDuration("11m").status().message()), Contains("10 minutes"));
}

TEST_CASE("every kind has a name that is read back, and labels need a key") {
  CHECK(CaptureKindNames() == "kernel,memcpy,memset,sync,nvtx,memory,framework-memory,launch");
  for (int kind = 1; kind < collector_v1::CaptureKind_ARRAYSIZE; ++kind) {
    const std::string name(CaptureKindName(static_cast<collector_v1::CaptureKind>(kind)));
    const auto request = ToRequest({.duration = "1s", .kinds = {name}});
    REQUIRE(request.ok());
    CHECK(request->kinds(0) == kind);
  }
  CHECK(ToRequest({.duration = "1s", .labels = {"a=", "b=c=d"}})->labels().at("b") == "c=d");
  CHECK_FALSE(ToRequest({.duration = "1s", .labels = {"a"}}).ok());
  CHECK_FALSE(ToRequest({.duration = "1s", .labels = {"=a"}}).ok());
  CHECK_FALSE(ToRequest({.duration = "1s", .labels = {"a=1", "a=2"}}).ok());
}

TEST_CASE("a process is found by pid, by executable, and then by its command line") {
  const std::vector<Process> processes = {
      MakeProcess(10, "/usr/bin/python3", {"python3", "train.py"}),
      MakeProcess(11, "/usr/bin/sh", {"sh", "-c", "python3 100"}),
      MakeProcess(100, "/opt/serve", {"/opt/serve", "--model", "a b"})};
  CHECK(FindProcess(processes, "10")->pid() == 10);
  CHECK(FindProcess(processes, "100")->pid() == 100);
  CHECK(FindProcess(processes, "python3")->pid() == 10);  // though the shell names it too
  CHECK(FindProcess(processes, "-c python")->pid() == 11);
  CHECK(FindProcess(processes, "a b")->pid() == 100);
  CHECK(absl::IsInvalidArgument(FindProcess(processes, "python").status()));
  CHECK(absl::IsNotFound(FindProcess(processes, "1").status()));
  CHECK(absl::IsNotFound(FindProcess(processes, "java").status()));
  CHECK(absl::IsInvalidArgument(FindProcess(processes, "").status()));
  CHECK_THAT(std::string(FindProcess({}, "java").status().message()), Contains(kHowToStart));
}

TEST_CASE("GPUs with following numbers and one name stand together") {
  Process process = MakeProcess(1, "/opt/serve", {});
  CHECK(GpusText(process) == "-");
  AddGpu(process, 3, "NVIDIA H200");
  CHECK(GpusText(process) == "3 H200");
  AddGpu(process, 0, "NVIDIA A100-SXM4-80GB");
  AddGpu(process, 2, "NVIDIA H200");
  AddGpu(process, 5, "NVIDIA H200");
  AddGpu(process, 6, "");
  CHECK(GpusText(process) == "0 A100-SXM4-80GB, 2–3 H200, 5 H200, 6");
}

TEST_CASE("a command line is one line, and the executable stands in for a missing one") {
  CHECK(CommandText(MakeProcess(1, "", {"/usr/bin/python3", "-c", "a\n\tb", "/x/y"})) ==
        "python3 -c a  b /x/y");
  CHECK(CommandText(MakeProcess(1, "/opt/serve", {})) == "serve");
  CHECK(CommandText(MakeProcess(1, "", {})) == "-");
}

TEST_CASE("progress has no rate where no time has passed") {
  collector_v1::CaptureStatus before;
  before.set_state(collector_v1::CAPTURE_STATE_DRAINING);
  before.mutable_duration()->set_seconds(2);
  before.mutable_elapsed()->set_nanos(1'234'567);
  CHECK(ProgressText(before, before) == "draining, 1 ms of 2 s, 0 events");
  CHECK(LossAlarm(before).empty());
}

TEST_CASE("the last column of a table gives way to the width of the line") {
  Table table({{"a"}, {"b"}});
  table.AddRow({"12345", "abcdefghijklmnopqrstuvwxyz"});
  CHECK(table.Render(0) == "a      b\n12345  abcdefghijklmnopqrstuvwxyz\n");
  CHECK(table.Render(22) == "a      b\n12345  abcdefghijklmn…\n");
  CHECK(table.Render(5) == "a      b\n12345  abcdefghijk…\n");
}

TEST_CASE("the library is where the user says, else near the program") {
  const Folder folder;
  const std::string program_folder = folder.Path("bin");
  fs::create_directories(program_folder);
  const auto none = FindInjectionLibrary("", Of({}), program_folder);
  REQUIRE(absl::IsNotFound(none.status()));
  const std::string message(none.status().message());
  const std::vector<std::string> places = {"lib/nanolane/libnanolane_inject.so",
                                           "lib/libnanolane_inject.so",
                                           "bin/libnanolane_inject.so"};
  // The later in the search, the earlier here: each is preferred to those before it.
  for (const std::string& place : places) {
    CHECK_THAT(message, Contains(folder.Path(place)));
    const std::string path = folder.Make(place);
    CHECK(*FindInjectionLibrary("", Of({}), program_folder) == path);
  }
  const std::string own = folder.Make("own.so");
  const std::string named = folder.Make("named.so");
  CHECK(*FindInjectionLibrary("", Of({{kLibraryVariable, own}}), program_folder) == own);
  CHECK(*FindInjectionLibrary(named, Of({{kLibraryVariable, own}}), program_folder) == named);
  CHECK_FALSE(FindInjectionLibrary(folder.Path("no.so"), Of({}), program_folder).ok());
  CHECK_FALSE(FindInjectionLibrary(folder.Path("bin"), Of({}), program_folder).ok());
  CHECK_FALSE(FindInjectionLibrary("", Of({{kLibraryVariable, "/no.so"}}), program_folder).ok());
}

TEST_CASE("the user's own collector is named where that of the machine is not there") {
  const Folder folder;
  const std::string machine = folder.Path("machine.sock");
  const Environment environment = Of({{"XDG_RUNTIME_DIR", folder.Path("user")}});
  CHECK(ChooseSocket("", environment, machine).empty());
  const std::string own = folder.Make("user/nanolane/collector.sock");
  CHECK(ChooseSocket("", environment, machine) == own);
  CHECK(ChooseSocket("", Of({{"XDG_RUNTIME_DIR", folder.Path("user")}, {kSocketVariable, "/s"}}),
                     machine)
            .empty());
  folder.Make("machine.sock");
  CHECK(ChooseSocket("", environment, machine).empty());
  CHECK(ChooseSocket("a/../b.sock", environment, machine) ==
        (fs::current_path() / "b.sock").string());
}

TEST_CASE("a project that the library cannot tell is refused") {
  CHECK(InjectionVariables({.library = "/l", .project = std::string(127, 'p')}, Of({})).ok());
  CHECK(absl::IsInvalidArgument(
      InjectionVariables({.library = "/l", .project = std::string(128, 'p')}, Of({})).status()));
}

TEST_CASE("a status says the code that the program ends with") {
  CHECK(ExitCodeOf(absl::OkStatus()) == 0);
  CHECK(ExitCodeOf(absl::InvalidArgumentError("")) == 2);
  CHECK(ExitCodeOf(absl::NotFoundError("")) == 1);
  CHECK(ExitCodeOf(WithExitCode(absl::NotFoundError(""), 127)) == 127);
}

}  // namespace nanolane::cli
