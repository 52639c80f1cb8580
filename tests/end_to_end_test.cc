// The real binaries as a user runs them: a server process, the command line, files.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/support/command.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {
namespace {

using Json = nlohmann::json;

// A small training step: two kernels, a copy and a wait, with operators above the launches.
constexpr const char* kTrace =
    R"json({"schemaVersion": 1, "baseTimeNanoseconds": 1000000000000000000,
"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320}],
"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":10,"tid":10,"ts":1000.000,"dur":50.000},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":1010.125,"dur":5.001,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"ampere_sgemm_128x64_tn","pid":0,"tid":7,"ts":1030.250,"dur":12.345,"args":{"device":0,"context":1,"stream":7,"correlation":1,"grid":[4,2,1],"block":[128,1,1],"registers per thread":122,"shared memory":24600}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":1020,"dur":4,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"add_kernel","pid":0,"tid":7,"ts":1050,"dur":1.5,"args":{"device":0,"context":1,"stream":7,"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":10,"tid":10,"ts":1060,"dur":3,"args":{"correlation":3}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1070,"dur":2,"args":{"device":0,"context":1,"stream":7,"correlation":3,"bytes":4096}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":10,"tid":10,"ts":1080,"dur":20,"args":{"correlation":4}},
{"ph":"X","cat":"user_annotation","name":"step","pid":10,"tid":10,"ts":990,"dur":200}
]})json";

class Cli {
 public:
  explicit Cli(std::string address) : address_(std::move(address)) {}

  CommandResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SiblingBinary("nanolane"));
    arguments.insert(arguments.end(), {"--server", address_});
    return RunCommand(arguments);
  }

  // The parsed output of a command that must succeed.
  Json Read(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const CommandResult result = Run(std::move(arguments));
    INFO(result.errors);
    REQUIRE(result.exit_code == 0);
    return Json::parse(result.output);
  }

 private:
  std::string address_;
};

std::string WriteFile(const TempFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

ServerProcess StartServer() {
  auto server = ServerProcess::Start(SiblingBinary("nanolane"));
  REQUIRE(server.ok());
  return *std::move(server);
}

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST_CASE("a trace is imported, listed, counted, searched, exported and imported again") {
  const TempFolder folder;
  ServerProcess server = StartServer();
  const Cli cli(server.address());
  const std::string file = WriteFile(folder, "step.json", kTrace);

  const Json imported = cli.Read({"import", file, "--project", "demo"});
  REQUIRE(imported.size() == 1);
  const std::string id = imported[0]["session_id"];
  CHECK(imported[0]["project"] == "demo");
  CHECK(imported[0]["events"] == 5);
  CHECK(
      imported[0]["by_kind"] ==
      Json({{"kernel", 2}, {"memcpy", 1}, {"memset", 0}, {"sync", 1}, {"nvtx", 1}, {"memory", 0}}));
  CHECK(imported[0]["left_out"].empty());

  const Json listed = cli.Read({"ls"});
  REQUIRE(listed.size() == 1);
  for (const char* key : {"session_id", "project", "host", "pid", "process", "start_ns", "end_ns",
                          "events", "stored_bytes", "lost"}) {
    CAPTURE(key);
    CHECK(listed[0].contains(key));
  }
  CHECK(listed[0]["pid"] == 10);
  CHECK(listed[0]["lost"] == 0);

  const Json stats = cli.Read({"stats", id});
  CHECK(Keys(stats) == std::set<std::string>{"session_id", "window", "lanes", "ops"});
  std::map<std::string, Json> lanes;
  for (const Json& lane : stats["lanes"]) lanes[lane["lane"]] = lane;
  REQUIRE(lanes.contains("Stream 7"));
  CHECK(lanes["Stream 7"]["events"] == 3);
  CHECK(lanes["Stream 7"]["busy_ns"] == 12'345 + 1'500 + 2'000);
  CHECK(lanes["Stream 7"]["first_ns"] == 1'030'250);
  CHECK(lanes["No stream (sync)"]["busy_ns"] == 20'000);
  CHECK(lanes["NVTX thread 10"]["events"] == 1);

  const Json window = cli.Read({"stats", "latest", "--range", "60us..65us"});  // 1050 to 1055 µs
  CHECK(window["window"]["end_ns"] == window["window"]["start_ns"].get<int64_t>() + 5'000);
  std::map<std::string, int> in_window;
  for (const Json& lane : window["lanes"]) in_window[lane["lane"]] = lane["events"];
  CHECK(in_window["Stream 7"] == 1);

  const Json found = cli.Read({"search", "gemm"});
  REQUIRE(found["ops"].size() == 1);
  CHECK(found["ops"][0]["name"] == "ampere_sgemm_128x64_tn");
  CHECK(found["ops"][0]["hits"][0]["lane"] == "Stream 7");
  CHECK(found["total_events"] == 1);

  const std::string exported = folder.path() + "/exported.json";
  REQUIRE(cli.Run({"export", id.substr(0, 8), "--to", "chrome", "-o", exported}).exit_code == 0);
  const Json again = cli.Read({"import", exported});
  CHECK(again[0]["by_kind"] == imported[0]["by_kind"]);
  const Json again_stats = cli.Read({"stats", again[0]["session_id"]});
  CHECK(again_stats["ops"] == stats["ops"]);

  CHECK(cli.Run({"rm", id}).exit_code == 0);
  CHECK(cli.Read({"ls"}).size() == 1);
}

TEST_CASE("a session is followed to its seal, shows in the density, and is in a checkpoint") {
  const TempFolder folder;
  ServerProcess server = StartServer();
  const Cli cli(server.address());
  const Json imported = cli.Read({"import", WriteFile(folder, "step.json", kTrace)});
  const std::string id = imported[0]["session_id"];
  const uint64_t events = cli.Read({"ls"})[0]["events"];

  const CommandResult followed = cli.Run({"follow", id, "--format", "json"});
  REQUIRE(followed.exit_code == 0);
  std::istringstream lines(followed.output);
  Json last;
  for (std::string line; std::getline(lines, line);) last = Json::parse(line);
  CHECK(last["events"] == events);
  CHECK(last["unsealed"] == 0);
  CHECK(last["ended"] == true);

  const Json density = cli.Read({"density"});
  CHECK(density["sessions"] == 1);
  uint64_t counted = 0;
  for (const Json& layer : density["layers"]) {
    for (const Json& bin : layer["bins"]) {
      for (const Json& kind : bin["kinds"]) counted += kind["events"].get<uint64_t>();
    }
  }
  CHECK(counted == events);

  const Json checkpoint = cli.Read({"checkpoint", "monday"});
  CHECK(std::filesystem::exists(checkpoint["path"].get<std::string>() + "/CURRENT"));
  CHECK(cli.Run({"checkpoint", "monday"}).exit_code == 1);
}

TEST_CASE("the same content imported again gives the same session, also compressed") {
  const TempFolder folder;
  ServerProcess server = StartServer();
  const Cli cli(server.address());
  const std::string file = WriteFile(folder, "step.json", kTrace);
  const Json first = cli.Read({"import", file});
  const std::string copy = WriteFile(folder, "copy.json", kTrace);
  REQUIRE(RunCommand({"/bin/gzip", copy}).exit_code == 0);
  const Json second = cli.Read({"import", copy + ".gz", file});
  REQUIRE(second.size() == 2);
  for (const Json& session : second) {
    CHECK(session["session_id"] == first[0]["session_id"]);
    CHECK(session["by_kind"] == first[0]["by_kind"]);
  }
  CHECK(cli.Read({"ls"}).size() == 1);
}

TEST_CASE("what cannot be imported is said, the rest is imported, and the exit code tells") {
  const TempFolder folder;
  ServerProcess server = StartServer();
  const Cli cli(server.address());
  const std::string good = WriteFile(folder, "good.json", kTrace);
  const std::string bad = WriteFile(
      folder, "bad.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  const CommandResult result =
      cli.Run({"import", bad, folder.path() + "/absent.json", good, "--format", "json"});
  CHECK(result.exit_code == 1);
  CHECK(result.errors.find("bad.json") != std::string::npos);
  CHECK(result.errors.find("LFS") != std::string::npos);
  CHECK(result.errors.find("absent.json") != std::string::npos);
  CHECK(Json::parse(result.output).size() == 1);
}

TEST_CASE("errors say what to do and set the exit code") {
  ServerProcess server = StartServer();
  const Cli cli(server.address());
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"stats", "nothing"}, 1, "nanolane ls"},
      {{"stats"}, 2, "session"},
      {{"search", "("}, 2, "RE2"},
      {{"stats", "x", "--format", "xml"}, 2, "format"},
      {{"fly"}, 2, ""},
      {{}, 2, ""},
  };
  for (const Case& one : cases) {
    const CommandResult result = cli.Run(one.arguments);
    CAPTURE(one.arguments, result.errors);
    CHECK(result.exit_code == one.exit_code);
    CHECK((result.errors + result.output).find(one.says) != std::string::npos);
  }
  const std::string address = server.address();
  server.Stop(SIGTERM);
  const CommandResult gone = Cli(address).Run({"ls"});
  CHECK(gone.exit_code == 1);
  CHECK(gone.errors.find("nanolane up") != std::string::npos);
}

TEST_CASE("up refuses an address that is not loopback and a folder that is in use") {
  const TempFolder folder;
  const CommandResult open = RunCommand(
      {SiblingBinary("nanolane"), "up", "--data", folder.path(), "--listen", "0.0.0.0:0"});
  CHECK(open.exit_code != 0);
  CHECK(open.errors.find("loopback") != std::string::npos);
  ServerProcess server = StartServer();
  const CommandResult second = RunCommand({SiblingBinary("nanolane"), "up", "--data",
                                           server.folder() + "/data", "--listen", "127.0.0.1:0"});
  CHECK(second.exit_code != 0);
  CHECK(second.errors.find("another process") != std::string::npos);
}

// A trace long enough that a kill lands in the middle of its import.
std::string LongTrace(int kernels) {
  std::string text = "[";
  for (int i = 0; i < kernels; ++i) {
    const std::string correlation = std::to_string(i + 1);
    text += (i == 0 ? "" : ",\n");
    text += R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":)" +
            std::to_string(1'000 + 10 * i) + R"(,"dur":3,"args":{"correlation":)" + correlation +
            "}},\n";
    text += R"({"ph":"X","cat":"kernel","name":"kernel_)" + std::to_string(i % 97) +
            R"(","pid":0,"tid":7,"ts":)" + std::to_string(1'005 + 10 * i) +
            R"(,"dur":2,"args":{"device":0,"context":1,"stream":7,"correlation":)" + correlation +
            "}}";
  }
  return text + "]";
}

TEST_CASE(
    "a server that is killed loses nothing that was acknowledged, and an import can be repeated") {
  const TempFolder folder;
  constexpr int kKernels = 60'000;
  const std::string file = WriteFile(folder, "long.json", LongTrace(kKernels));
  const std::string small = WriteFile(folder, "step.json", kTrace);
  ServerProcess server = StartServer();
  const Json acknowledged = Cli(server.address()).Read({"import", small});
  const std::string address = server.address();
  // The import and the kill race: whichever way it ends, the repeated import must be whole.
  CommandResult interrupted;
  std::thread importer([&] { interrupted = Cli(address).Run({"import", file}); });
  server.Stop(SIGKILL);
  importer.join();
  REQUIRE(server.Restart(SIGKILL).ok());
  const Cli cli(server.address());
  const Json listed = cli.Read({"ls"});
  const bool kept = std::any_of(listed.begin(), listed.end(), [&](const Json& session) {
    return session["session_id"] == acknowledged[0]["session_id"] && session["events"] == 5;
  });
  CHECK(kept);
  const Json repeated = cli.Read({"import", file});
  CHECK(repeated[0]["by_kind"]["kernel"] == kKernels);
  const Json stats = cli.Read({"stats", repeated[0]["session_id"]});
  CHECK(stats["lanes"][0]["events"] == kKernels);
  CHECK(stats["lanes"][0]["busy_ns"] == int64_t{kKernels} * 2'000);
}

}  // namespace
}  // namespace nanolane::testing
