// nanolane ps, run and profile as a user runs them, against a collector with scripted answers.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/command.h"
#include "tests/support/fake_collector.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {
namespace {

namespace collector_v1 = nanolane::collector::v1;
namespace trace_v1 = nanolane::trace::v1;
using Catch::Matchers::Contains;
using collector_v1::CaptureStatus;
using collector_v1::Process;
using Json = nlohmann::json;

constexpr const char* kSession = "00112233445566778899aabbccddeeff";

Process MakeProcess(uint64_t pid, std::vector<std::string> command_line) {
  Process process;
  process.set_pid(pid);
  process.set_executable("/usr/bin/python3.11");
  for (std::string& argument : command_line) process.add_command_line(std::move(argument));
  process.set_user("ada");
  process.set_project("nightly");
  process.set_state(collector_v1::PROCESS_STATE_READY);
  for (int i = 0; i < 2; ++i) {
    auto* gpu = process.add_gpus();
    gpu->set_index(i);
    gpu->set_name("NVIDIA H200");
  }
  return process;
}

CaptureStatus MakeStatus(collector_v1::CaptureState state, int seconds, uint64_t kernels) {
  CaptureStatus status;
  status.set_session_id(kSession);
  status.set_pid(4711);
  status.set_executable("/usr/bin/python3.11");
  status.set_state(state);
  status.mutable_duration()->set_seconds(30);
  status.mutable_elapsed()->set_seconds(seconds);
  auto* kind = status.add_by_kind();
  kind->set_kind(trace_v1::EVENT_KIND_KERNEL);
  kind->set_count(kernels);
  return status;
}

// One process, which is captured without a fault.
CollectorScript MakeScript() {
  CollectorScript script;
  script.processes = {MakeProcess(4711, {"/usr/bin/python3", "train.py", "--lr", "1"})};
  script.started.set_session_id(kSession);
  script.started.add_kinds(collector_v1::CAPTURE_KIND_KERNEL);
  script.started.add_notes("CUPTI 13.0 gives wrong ids for graphs");
  script.steps = {MakeStatus(collector_v1::CAPTURE_STATE_RECORDING, 1, 1'000),
                  MakeStatus(collector_v1::CAPTURE_STATE_RECORDING, 3, 5'000)};
  script.last = MakeStatus(collector_v1::CAPTURE_STATE_DONE, 30, 60'000);
  return script;
}

std::vector<std::string> Words(const FakeCollector& collector, std::vector<std::string> words) {
  words.insert(words.begin(), SiblingBinary("nanolane"));
  words.insert(words.end(), {"--server", collector.address()});
  return words;
}

CommandResult Run(const FakeCollector& collector, std::vector<std::string> words) {
  return RunCommand(Words(collector, std::move(words)));
}

// `nanolane run` in an empty environment but for `variables`.
CommandResult RunIn(std::vector<std::string> variables, std::vector<std::string> words) {
  std::vector<std::string> arguments = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin"};
  arguments.insert(arguments.end(), variables.begin(), variables.end());
  arguments.insert(arguments.end(), {SiblingBinary("nanolane"), "run"});
  arguments.insert(arguments.end(), words.begin(), words.end());
  return RunCommand(arguments);
}

std::string MakeFile(const TempFolder& folder, const std::string& name) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path) << "a library";
  return path;
}

}  // namespace

TEST_CASE("ps shows the processes, what they use and how they stand") {
  CollectorScript script;
  script.processes = {MakeProcess(4711, {"/usr/bin/python3", "train.py"}),
                      MakeProcess(4712, {"/opt/serve", std::string(200, 'x')})};
  script.processes[1].set_container_id("0123456789abcdef0123456789abcdef");
  script.processes[1].set_state(collector_v1::PROCESS_STATE_REFUSED);
  script.processes[1].set_refusal("torch.profiler is recording");
  const FakeCollector collector(script);

  const CommandResult table = Run(collector, {"ps"});
  CAPTURE(table.output, table.errors);
  REQUIRE(table.exit_code == 0);
  CHECK_THAT(table.output, Contains("4711  ada   nightly  0–1 H200  ready"));
  CHECK_THAT(table.output, Contains("  python3 train.py\n"));
  CHECK_THAT(table.output,
             Contains("refused: torch.profiler is recording  0123456789ab  serve xx"));
  CHECK_THAT(table.output, Contains("x…\n"));

  const CommandResult json = Run(collector, {"ps", "--format", "json"});
  REQUIRE(json.exit_code == 0);
  const Json processes = Json::parse(json.output);
  REQUIRE(processes.size() == 2);
  CHECK(processes[0]["pid"] == 4711);
  CHECK(processes[0]["command_line"] == Json({"/usr/bin/python3", "train.py"}));
  CHECK(processes[0]["gpus"][1]["name"] == "NVIDIA H200");
  CHECK(processes[1]["state"] == "refused");
  CHECK(processes[1]["refusal"] == "torch.profiler is recording");
  CHECK(processes[1]["container_id"] == "0123456789abcdef0123456789abcdef");
}

TEST_CASE("ps without processes says how to start one") {
  const FakeCollector collector({});
  const CommandResult table = Run(collector, {"ps"});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, Contains("nanolane run -- CMD"));
  CHECK(Json::parse(Run(collector, {"ps", "--format", "json"}).output) == Json::array());
}

TEST_CASE("profile passes on what was asked for and prints what came of it") {
  const FakeCollector collector(MakeScript());
  const CommandResult result =
      Run(collector, {"profile", "--duration", "1m30s", "--kinds", "kernel,memcpy", "--project",
                      "mine", "--label", "step=1", "--label", "note=a=b", "train.py"});
  CAPTURE(result.output, result.errors);
  REQUIRE(result.exit_code == 0);
  const auto starts = collector.starts();
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].pid() == 4711);
  CHECK(starts[0].duration().seconds() == 90);
  REQUIRE(starts[0].kinds_size() == 2);
  CHECK(starts[0].kinds(1) == collector_v1::CAPTURE_KIND_MEMCPY);
  CHECK(starts[0].project() == "mine");
  CHECK(starts[0].labels().at("step") == "1");
  CHECK(starts[0].labels().at("note") == "a=b");
  CHECK(collector.ended_sessions().empty());

  CHECK_THAT(result.errors, Contains("recording, 1 s of 30 s, 1 000 events (kernel 1 000), "
                                     "1 000 events/s\n"));
  CHECK_THAT(result.errors, Contains("recording, 3 s of 30 s, 5 000 events (kernel 5 000), "
                                     "2 000 events/s\n"));
  CHECK_THAT(result.output, Contains(std::string("session ") + kSession +
                                     ", 30 s of python3 "
                                     "train.py --lr 1 (pid 4711), 60 000 events, no losses\n"));
  CHECK_THAT(result.output, Contains("note: CUPTI 13.0 gives wrong ids for graphs\n"));
  CHECK_THAT(result.output, Contains("nanolane-desktop --server " + collector.address() +
                                     " --session " + kSession + "\n"));
  CHECK(result.output.find("LOST") == std::string::npos);
}

TEST_CASE("losses are shown while they happen, at the end and in the JSON") {
  CollectorScript script = MakeScript();
  for (CaptureStatus* status : {&script.steps[1], &script.last}) {
    auto* loss = status->add_losses();
    loss->set_kind(trace_v1::EVENT_KIND_KERNEL);
    loss->set_reason("the ring was full");
    loss->set_count(12);
  }
  script.steps[1].set_spooled_bytes(3 << 20);
  const FakeCollector collector(script);
  const CommandResult table = Run(collector, {"profile", "4711"});
  CAPTURE(table.output, table.errors);
  CHECK_THAT(table.errors, Contains("\nLOST 12 events, recording, 3 s"));
  CHECK_THAT(table.errors, Contains("3.0 MiB wait on disk"));
  CHECK_THAT(table.output, Contains("12 events LOST\n"));
  CHECK_THAT(table.output, Contains("kernel      12  the ring was full\n"));

  const CommandResult result = Run(collector, {"profile", "4711", "--format", "json"});
  REQUIRE(result.exit_code == 0);
  const Json json = Json::parse(result.output);
  CHECK(json["session_id"] == kSession);
  CHECK(json["state"] == "done");
  CHECK(json["elapsed_ns"] == 30'000'000'000);
  CHECK(json["by_kind"] == Json({{"kernel", 60'000}}));
  CHECK(json["lost"] == 12);
  CHECK(json["losses"][0] ==
        Json({{"kind", "kernel"}, {"reason", "the ring was full"}, {"count", 12}}));
}

TEST_CASE("on a terminal progress is one line that is written over, with losses in red") {
  CollectorScript script = MakeScript();
  auto* loss = script.steps[1].add_losses();
  loss->set_reason("the ring was full");
  loss->set_count(1);
  const FakeCollector collector(script);
  std::string line;
  for (const std::string& word : Words(collector, {"profile", "4711"})) line += word + " ";
  const CommandResult result =
      RunCommand({"/usr/bin/script", "--quiet", "--return", "--command", line, "/dev/null"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.output, Contains("\r\033[K\033[?7lrecording, 1 s of 30 s"));
  CHECK_THAT(result.output,
             Contains("\r\033[K\033[?7l\033[1;31mLOST 1 event\033[0m, recording, 3 s of 30 s"));
  CHECK_THAT(result.output, Contains("\r\033[Ksession "));  // the line is gone
}

TEST_CASE("profile --follow prints the session's id before anything else") {
  const FakeCollector collector(MakeScript());
  const CommandResult table = Run(collector, {"profile", "4711", "--follow"});
  CHECK(table.output.starts_with(std::string(kSession) + "\nsession "));
  const CommandResult json = Run(collector, {"profile", "4711", "--follow", "--format", "json"});
  CHECK(json.output.starts_with(std::string("{\"session_id\":\"") + kSession + "\"}\n{"));
}

TEST_CASE("a refused capture and one that fails end with 1 and the reason") {
  CollectorScript refusing = MakeScript();
  refusing.start_status =
      grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "torch.profiler is recording");
  const CommandResult refused = Run(FakeCollector(refusing), {"profile", "4711"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.empty());
  CHECK(refused.errors == "nanolane: torch.profiler is recording\n");

  CollectorScript failing = MakeScript();
  failing.last.set_state(collector_v1::CAPTURE_STATE_FAILED);
  failing.last.set_message("the process was killed");
  const CommandResult failed = Run(FakeCollector(failing), {"profile", "4711"});
  CHECK(failed.exit_code == 1);
  CHECK_THAT(failed.output, Contains(kSession));
  CHECK_THAT(failed.errors, Contains("nanolane: the capture failed: the process was killed\n"));
}

TEST_CASE("a name that fits several processes or none, and wrong words, start nothing") {
  CollectorScript script = MakeScript();
  script.processes.push_back(MakeProcess(4712, {"/usr/bin/python3", "train.py", "--lr", "2"}));
  const FakeCollector collector(script);
  const CommandResult several = Run(collector, {"profile", "train.py"});
  CHECK(several.exit_code == 2);
  CHECK_THAT(several.errors, Contains("\n  4711  python3 train.py --lr 1\n"));
  CHECK_THAT(several.errors, Contains("\n  4712  python3 train.py --lr 2\n"));
  const CommandResult none = Run(collector, {"profile", "serve"});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.errors, Contains("nanolane run -- CMD"));
  CHECK_THAT(none.errors, Contains("\n  4712  python3 train.py --lr 2\n"));
  const CommandResult longer = Run(collector, {"profile", "4711", "--duration", "10m1ms"});
  CHECK(longer.exit_code == 2);
  CHECK_THAT(longer.errors, Contains("10 minutes at most"));
  const CommandResult kind = Run(collector, {"profile", "4711", "--kinds", "kernels"});
  CHECK(kind.exit_code == 2);
  CHECK_THAT(kind.errors, Contains("unknown kind \"kernels\"; there are kernel,memcpy"));
  CHECK(collector.starts().empty());
}

TEST_CASE("Ctrl+C and SIGTERM end a capture early and in order") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CollectorScript script = MakeScript();
    script.waits_for_end = true;
    FakeCollector collector(script);
    RunningCommand command(Words(collector, {"profile", "4711"}));
    collector.WaitUntilWatched();
    command.Signal(signal);
    const CommandResult result = command.Wait();
    CAPTURE(signal, result.output, result.errors);
    CHECK(result.exit_code == 0);
    CHECK(collector.ended_sessions() == std::vector<std::string>{kSession});
    CHECK_THAT(result.output, Contains("60 000 events, no losses"));
  }
}

TEST_CASE("a second Ctrl+C ends the program at once") {
  CollectorScript script = MakeScript();
  script.waits_for_end = true;
  script.end_hangs = true;
  FakeCollector collector(script);
  RunningCommand command(Words(collector, {"profile", "4711"}));
  collector.WaitUntilWatched();
  command.Signal(SIGINT);
  collector.WaitUntilEndAsked();
  command.Signal(SIGINT);
  const CommandResult result = command.Wait();
  CHECK(result.signal == SIGINT);
  CHECK(result.output.empty());
}

TEST_CASE("run gives the program its variables and its arguments, and becomes it") {
  const TempFolder folder;
  const std::string library = MakeFile(folder, "libnanolane_inject.so");
  const CommandResult result = RunIn({"KEPT=1"}, {"--library", library, "--project", "nightly",
                                                  "--socket", "/tmp/c.sock", "--", "env"});
  CAPTURE(result.output, result.errors);
  REQUIRE(result.exit_code == 0);
  for (const std::string& line :
       {"CUDA_INJECTION64_PATH=" + library, "NVTX_INJECTION64_PATH=" + library,
        std::string("NANOLANE_SOCKET=/tmp/c.sock"), std::string("NANOLANE_PROJECT=nightly"),
        std::string("KEPT=1")}) {
    CHECK_THAT(result.output, Contains(line + "\n"));
  }
  const CommandResult plain = RunIn({"NANOLANE_INJECT_LIBRARY=" + library}, {"--", "env"});
  CHECK_THAT(plain.output, Contains("CUDA_INJECTION64_PATH=" + library + "\n"));
  CHECK(plain.output.find("NANOLANE_PROJECT") == std::string::npos);

  const CommandResult words = RunIn({}, {"--library", library, "--", "printf", "<%s>", "--server",
                                         "x", "[a,b]", "--", "ls", "", "--help"});
  CHECK(words.output == "<--server><x><[a,b]><--><ls><><--help>");
  CHECK(RunIn({}, {"--library", library, "--", "sh", "-c", "exit 7"}).exit_code == 7);
}

TEST_CASE("run says what is wrong and runs nothing") {
  const TempFolder folder;
  const std::string library = MakeFile(folder, "libnanolane_inject.so");
  const std::string other = MakeFile(folder, "libother.so");

  const CommandResult missing = RunIn({}, {"--library", "/nowhere/lib.so", "--", "env"});
  CHECK(missing.exit_code == 1);
  CHECK(missing.output.empty());
  CHECK_THAT(missing.errors, Contains("/nowhere/lib.so, which --library names"));

  const CommandResult unknown = RunIn({}, {"--library", library, "--", "no-such-command"});
  CHECK(unknown.exit_code == 127);
  CHECK_THAT(unknown.errors, Contains("cannot run \"no-such-command\""));
  CHECK(RunIn({}, {"--library", library, "--", other}).exit_code == 126);

  for (const std::string variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    CAPTURE(variable);
    const std::string set = variable + "=" + other;
    const CommandResult refused = RunIn({set}, {"--library", library, "--", "env"});
    CHECK(refused.exit_code == 1);
    CHECK(refused.output.empty());
    CHECK_THAT(refused.errors, Contains(other));
    const CommandResult replaced =
        RunIn({set}, {"--library", library, "--replace-injection", "--", "env"});
    CHECK(replaced.exit_code == 0);
    CHECK_THAT(replaced.output, Contains(variable + "=" + library + "\n"));
    const CommandResult same =
        RunIn({variable + "=" + library}, {"--library", library, "--", "env"});
    CHECK(same.exit_code == 0);
  }
  CHECK(RunIn({}, {"--library", library}).exit_code == 2);
}

}  // namespace nanolane::testing
