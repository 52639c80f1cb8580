// The scripted program does what it is told, notes it, and is loaded into as a real one would be.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace nanolane::sim {
namespace {

using nlohmann::json;

// One run of the program in a folder of its own.
class Program {
 public:
  Program() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sim_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Program() { std::filesystem::remove_all(folder_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  testing::CommandResult Run(const std::string& script, std::vector<std::string> environment = {}) {
    std::ofstream(Path("script")) << script;
    std::vector<std::string> arguments = {"/usr/bin/env", "SIM_PROBE_FILE=" + Path("probe")};
    arguments.insert(arguments.end(), environment.begin(), environment.end());
    arguments.insert(arguments.end(), {SIM_PROGRAM, Path("script"), Path("truth")});
    return testing::RunCommand(arguments);
  }

  std::vector<json> Truth() const {
    std::vector<json> deeds;
    for (const std::string& line : Lines("truth")) deeds.push_back(json::parse(line));
    return deeds;
  }
  std::vector<std::string> Probe() const { return Lines("probe"); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::vector<std::string> Lines(const std::string& name) const {
    std::ifstream file(Path(name));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string folder_;
};

TEST_CASE("the truth has every call with its stream, its correlation and times around it") {
  Program program;
  const auto result = program.Run(
      "stream a\n"
      "say ready  # a comment\n"
      "launch a _Z3addPfS_i n=3\n"
      "copy a h2d bytes=100 pageable\n"
      "sync a\n");
  REQUIRE(result.exit_code == 0);
  CHECK(result.output == "ready\n");
  const auto truth = program.Truth();
  REQUIRE(truth.size() == 5);
  int64_t last = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    CHECK(truth[i]["correlation"] == i + 1);
    CHECK(truth[i]["stream"] == truth[0]["stream"]);
    CHECK(truth[i]["before"] >= last);
    CHECK(truth[i]["after"] >= truth[i]["before"]);
    last = truth[i]["after"];
  }
  CHECK(truth[0]["call"] == "launch");
  CHECK(truth[0]["name"] == "_Z3addPfS_i");
  CHECK(truth[3]["bytes"] == 100);
}

TEST_CASE("threads have streams and ids of their own, and loops repeat") {
  Program program;
  REQUIRE(program
              .Run("threads 4\n"
                   "  loop 10\n"
                   "    launch per-thread _Z1kv\n"
                   "  end\n"
                   "end\n")
              .exit_code == 0);
  const auto truth = program.Truth();
  CHECK(truth.size() == 40);
  std::set<int64_t> threads;
  std::set<int64_t> streams;
  for (const json& deed : truth) {
    threads.insert(deed["thread"].get<int64_t>());
    streams.insert(deed["stream"].get<int64_t>());
  }
  CHECK(threads.size() == 4);
  CHECK(streams.size() == 4);
}

TEST_CASE("a storm is summed where that is asked for") {
  Program program;
  REQUIRE(program.Run("storm 20000 threads=4 sum\n").exit_code == 0);
  const auto truth = program.Truth();
  REQUIRE(truth.size() == 4);
  for (const json& deed : truth) CHECK(deed["count"] == 5000);
}

TEST_CASE("a forked child leaves, and its parent goes on with the truth") {
  Program program;
  const auto result = program.Run(
      "stream a\n"
      "launch a _Z1kv\n"
      "fork\n"
      "  say child\n"
      "end\n"
      "launch a _Z1kv\n"
      "exit 3\n");
  CHECK(result.exit_code == 3);
  CHECK(result.output == "child\n");
  CHECK(program.Truth().size() == 2);
}

TEST_CASE("what is wrong in a script is said with its line") {
  Program program;
  const auto unknown = program.Run("stream a\nfly a\n");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.errors == "sim_program: line 2: fly is not a command\n");
  CHECK(program.Run("loop 3\n").exit_code == 2);
  CHECK(program.Run("launch nowhere _Z1kv\n").exit_code == 2);
}

TEST_CASE("cuInit loads the injection library once, and it finds CUPTI by its name") {
  Program program;
  REQUIRE(program
              .Run("threads 8\n"
                   "  launch per-thread _Z1kv\n"
                   "end\n",
                   {"CUDA_INJECTION64_PATH=" PROBE_INJECTION, "SIM_CUPTI_VERSION=140000"})
              .exit_code == 0);
  CHECK(program.Probe() ==
        std::vector<std::string>{"InitializeInjection", "devices 2", "cupti 140000"});
}

TEST_CASE("an injection library that cannot be loaded leaves the program unharmed") {
  Program program;
  const auto result = program.Run("launch default _Z1kv\nsync default\n",
                                  {"CUDA_INJECTION64_PATH=/nowhere/libinject.so"});
  CHECK(result.exit_code == 0);
  CHECK(result.errors.find("cannot load /nowhere/libinject.so") != std::string::npos);
  CHECK(program.Truth().size() == 2);
}

TEST_CASE("NVTX loads the injection library at the first range, which gets every later one") {
#ifdef NANOLANE_HAVE_NVTX
  Program program;
  REQUIRE(program
              .Run("push \"step 1\"\n"
                   "pop\n"
                   "mark here domain=net\n",
                   {"NVTX_INJECTION64_PATH=" PROBE_INJECTION})
              .exit_code == 0);
  CHECK(program.Probe() ==
        std::vector<std::string>{"InitializeInjectionNvtx2", "push step 1", "pop"});
  const auto truth = program.Truth();
  REQUIRE(truth.size() == 3);
  CHECK(truth[0]["name"] == "step 1");
  CHECK(truth[2]["domain"] == "net");
#else
  WARN("SKIPPED: no NVTX headers");
#endif
}

}  // namespace
}  // namespace nanolane::sim
