#include "services/collector/process_facts.h"

#include <unistd.h>

#include <string>

#include "catch2/catch.hpp"
#include "services/collector/testing/fake_proc.h"

namespace nanolane::collector {
namespace {

using namespace std::string_literals;

const std::string kId(64, 'a');
constexpr char kPod[] = "01234567-89ab-cdef-0123-456789abcdef";
constexpr char kPodInSystemd[] = "01234567_89ab_cdef_0123_456789abcdef";

ContainerFacts Parse(const std::string& text) { return ParseCgroup(text); }

}  // namespace

TEST_CASE("a process is described by what its folder says") {
  FakeProc proc;
  proc.AddProcess(42, "/usr/bin/python3.12", "python3\0train.py\0--name\0caf\xC3\xA9\0"s, 1'234);
  proc.Write("42/cgroup", "0::/system.slice/docker-" + kId + ".scope\n");
  const auto facts = ReadProcessFacts(proc.path(), 42);
  REQUIRE(facts.ok());
  CHECK(facts->pid == 42);
  CHECK(facts->executable == "/usr/bin/python3.12");
  CHECK(facts->command_line == std::vector<std::string>{"python3", "train.py", "--name", "caf??"});
  CHECK(facts->uid == geteuid());
  CHECK_FALSE(facts->user.empty());
  CHECK(facts->container_id == kId);
  CHECK(facts->pod_uid.empty());
  CHECK(facts->start_ticks == 1'234);
  const int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  CHECK(facts->start_unix_ns ==
        static_cast<int64_t>(FakeProc::kBootUnixS) * 1'000'000'000 + 1'234 * ns_per_tick);
  CHECK(IsAlive(proc.path(), *facts));
}

TEST_CASE("a process that is not there is not found") {
  const FakeProc proc;
  CHECK(absl::IsNotFound(ReadProcessFacts(proc.path(), 43).status()));
}

TEST_CASE("what cannot be read stays empty") {
  FakeProc proc;
  proc.Write("7/unrelated", "");
  const auto facts = ReadProcessFacts(proc.path(), 7);
  REQUIRE(facts.ok());
  CHECK(facts->executable.empty());
  CHECK(facts->command_line.empty());
  CHECK(facts->container_id.empty());
  CHECK(facts->start_ticks == 0);
  CHECK_FALSE(IsAlive(proc.path(), *facts));
}

TEST_CASE("a name may hold parentheses and blanks") {
  FakeProc proc;
  proc.WriteStat(9, "a) Z 1 (b", 'R', 77);
  const auto facts = ReadProcessFacts(proc.path(), 9);
  REQUIRE(facts.ok());
  CHECK(facts->start_ticks == 77);
  CHECK(IsAlive(proc.path(), *facts));
}

TEST_CASE("a process is alive until it is a zombie, gone, or another of its number") {
  FakeProc proc;
  proc.WriteStat(9, "x", 'S', 77);
  const auto facts = ReadProcessFacts(proc.path(), 9);
  REQUIRE(facts.ok());
  for (const char state : {'R', 'D', 'T', 't'}) {
    proc.WriteStat(9, "x", state, 77);
    CHECK(IsAlive(proc.path(), *facts));
  }
  for (const char state : {'Z', 'X'}) {
    proc.WriteStat(9, "x", state, 77);
    CHECK_FALSE(IsAlive(proc.path(), *facts));
  }
  proc.WriteStat(9, "x", 'S', 78);
  CHECK_FALSE(IsAlive(proc.path(), *facts));
  proc.Write("9/stat", "");
  CHECK_FALSE(IsAlive(proc.path(), *facts));
  proc.Write("9/stat", "9 (x");
  CHECK_FALSE(IsAlive(proc.path(), *facts));
  proc.Remove(9);
  CHECK_FALSE(IsAlive(proc.path(), *facts));
}

TEST_CASE("containers and pods of cgroups of both versions") {
  CHECK(Parse("0::/init.scope\n").container_id.empty());
  CHECK(Parse("").container_id.empty());
  CHECK(Parse("12:memory:/docker/" + kId + "\n1:name=systemd:/docker/" + kId).container_id == kId);

  const auto v1 = Parse("11:memory:/kubepods/burstable/pod"s + kPod + "/" + kId + "\n");
  CHECK(v1.container_id == kId);
  CHECK(v1.pod_uid == kPod);

  const auto v2 = Parse("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"s +
                        kPodInSystemd + ".slice/cri-containerd-" + kId + ".scope\n");
  CHECK(v2.container_id == kId);
  CHECK(v2.pod_uid == kPod);

  // Digits that are none of a container's, and of two the inner one.
  CHECK(Parse("0::/docker/" + kId + "b\n").container_id.empty());
  CHECK(Parse("0::/docker/" + kId.substr(1) + "\n").container_id.empty());
  const std::string inner(64, '7');
  CHECK(Parse("0::/docker/" + kId + "/docker/" + inner + "\n").container_id == inner);
  CHECK(Parse("0::/podman/pod-x/" + kId + "\n").pod_uid.empty());
  CHECK(Parse("0::/pod01234567-89ab-cdef-0123-456789abcdeg/x\n").pod_uid.empty());
}

TEST_CASE("arguments are bounded") {
  FakeProc proc;
  std::string line;
  for (int i = 0; i < 3'000; ++i) line += "a\0"s;
  proc.AddProcess(5, "/bin/x", line);
  CHECK(ReadProcessFacts(proc.path(), 5)->command_line.size() == 1'000);
}

}  // namespace nanolane::collector
