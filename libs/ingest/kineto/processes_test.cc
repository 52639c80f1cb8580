// Traces merged of several processes: whose kernels are whose.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::Event;

std::string Launch(int64_t pid, int64_t ts, uint64_t correlation,
                   const std::string& name = "cudaLaunchKernel", const std::string& more = "") {
  return CallText({.name = name,
                   .ts = std::to_string(ts),
                   .dur = "2",
                   .pid = pid,
                   .correlation = correlation,
                   .more = more});
}

std::string Kernel(int device, int64_t ts, uint64_t correlation, int64_t stream = 7,
                   const std::string& more = "") {
  return KernelText({.name = "k" + std::to_string(device),
                     .ts = std::to_string(ts),
                     .dur = "3",
                     .tid = stream,
                     .correlation = correlation,
                     .more = more},
                    device);
}

// Sessions come in order of their process ids.
uint64_t Pid(const Imported& imported, size_t i) { return imported.Session(i).session.pid(); }

TEST_CASE("kernels go to the process that launched them, sessions come by process id") {
  const Imported imported = ImportText(
      TraceOf({Launch(300, 10, 1), Launch(200, 20, 2), Kernel(0, 30, 1), Kernel(1, 40, 2),
               SpanText("user_annotation", {.ts = "1", .pid = 400, .tid = 1})}));
  REQUIRE(imported.sessions.size() == 3);
  CHECK(Pid(imported, 0) == 200);
  CHECK(Pid(imported, 1) == 300);
  CHECK(Pid(imported, 2) == 400);
  CHECK(imported.Name(imported.Lane("Stream 7", 0).at(0), 0) == "k1");
  CHECK(imported.Name(imported.Lane("Stream 7", 1).at(0), 1) == "k0");
  CHECK(imported.Count("nvtx", 2) == 1);
  CHECK(imported.sessions[0].session_id != imported.sessions[1].session_id);
}

TEST_CASE("colliding ids go to the launch nearest before, where nothing else tells") {
  std::vector<std::string> events;
  for (uint64_t i = 1; i <= 50; ++i) {
    const auto at = static_cast<int64_t>(i) * 1'000;
    events.push_back(Launch(100, at, i));
    events.push_back(Kernel(0, at + 5, i));
    events.push_back(Launch(200, at + 500, i));
    events.push_back(Kernel(0, at + 505, i));
  }
  const Imported imported = ImportText(TraceOf(events));
  REQUIRE(imported.sessions.size() == 2);
  for (size_t session = 0; session < 2; ++session) {
    const std::vector<Event> kernels = imported.Lane("Stream 7", session);
    REQUIRE(kernels.size() == 50);
    for (const Event& kernel : kernels) CHECK(kernel.start_ns - kernel.launch_start_ns == 5'000);
  }
}

TEST_CASE("colliding ids are settled by who owns the stream") {
  // Both processes launch with the same ids at nearly the same times, onto a GPU each, and the
  // kernels run late. Ids that only one of them has tell whose streams these are.
  std::vector<std::string> events;
  for (uint64_t i = 1; i <= 100; ++i) {
    const auto at = static_cast<int64_t>(i) * 10;
    events.push_back(Launch(100, at, i));
    events.push_back(Launch(200, at + 1, i));
    events.push_back(Kernel(0, 5'000 + at, i));
    events.push_back(Kernel(1, 5'000 + at, i));
  }
  for (uint64_t i = 201; i <= 203; ++i) {
    events.push_back(Launch(100, 3'000, i));
    events.push_back(Kernel(0, 9'000, i));
    events.push_back(Launch(200, 3'000, i + 100));
    events.push_back(Kernel(1, 9'000, i + 100));
  }
  const Imported imported = ImportText(TraceOf(events));
  REQUIRE(imported.sessions.size() == 2);
  for (size_t session = 0; session < 2; ++session) {
    const std::vector<Event> kernels = imported.Lane("Stream 7", session);
    REQUIRE(kernels.size() == 103);
    for (const Event& kernel : kernels) {
      CHECK(imported.Name(kernel, session) == (session == 0 ? "k0" : "k1"));
      CHECK(kernel.thread == (session == 0 ? 100 : 200));
    }
  }
}

TEST_CASE("a call that cannot launch the work, or names another operator, is no candidate") {
  const std::string first = ", \"External id\": 11";
  const std::string second = ", \"External id\": 22";
  const Imported imported = ImportText(
      TraceOf({Launch(100, 10, 1), Launch(200, 15, 1, "cudaMemcpyAsync"), Kernel(0, 20, 1),
               Launch(100, 30, 2, "cudaLaunchKernel", first),
               Launch(200, 35, 2, "cudaLaunchKernel", second), Kernel(0, 40, 2, 8, first)}));
  REQUIRE(imported.sessions.size() == 1);
  CHECK(Pid(imported, 0) == 100);
  CHECK(imported.Count("kernel") == 2);
}

TEST_CASE("kernels without a launch go to the process that launched most on their stream") {
  const Imported imported = ImportText(
      TraceOf({Kernel(0, 1, 900), Kernel(0, 2, 901, 8), Kernel(1, 3, 902), Kernel(5, 4, 903),
               SpanText("gpu_user_annotation", {.ts = "1", .pid = 1, .tid = 7}), Launch(100, 10, 1),
               Kernel(0, 20, 1), Launch(200, 11, 2), Kernel(0, 21, 2, 8), Launch(200, 12, 3),
               Kernel(1, 22, 3), Launch(200, 13, 4), Kernel(1, 23, 4)}));
  REQUIRE(imported.sessions.size() == 2);
  // 100 launched on stream 7 of device 0 alone; what ran on device 5 goes to the busiest process.
  CHECK(imported.Count("kernel", 0) == 2);
  CHECK(imported.Count("kernel", 1) == 6);
  CHECK(imported.Count("nvtx", 1) == 1);
}

TEST_CASE("each process takes its syncs from records if it has any, else from its calls") {
  const Imported imported = ImportText(TraceOf(
      {Launch(100, 10, 1, "cudaDeviceSynchronize"),
       SpanText("cuda_sync", {.name = "Context Sync",
                              .ts = "11",
                              .tid = -1,
                              .correlation = 1,
                              .more = ", \"cuda_sync_kind\": \"Context Sync\", \"stream\": -1, "
                                      "\"device\": 0, \"context\": 1"}),
       Launch(200, 30, 7, "cudaDeviceSynchronize"), Launch(200, 40, 8, "cudaStreamSynchronize")}));
  REQUIRE(imported.sessions.size() == 2);
  CHECK(imported.Count("sync", 0) == 1);
  CHECK(imported.Name(imported.Lane("No stream (sync)", 0).at(0), 0) == "Context Sync");
  CHECK(imported.Count("sync", 1) == 2);
}

TEST_CASE("processes named by texts are processes too") {
  std::string call = Launch(100, 10, 1);
  call.replace(call.find("\"pid\": 100"), 10, "\"pid\": \"rank 3\"");
  const Imported imported = ImportText(TraceOf({call, Kernel(0, 20, 1)}));
  REQUIRE(imported.sessions.size() == 1);
  CHECK(Pid(imported, 0) == 0);
  CHECK(imported.Session().session.labels().at("process") == "rank 3");
  CHECK(imported.Lane("Stream 7").at(0).launch_start_ns == 10'000);
}

TEST_CASE("random merges of two processes with colliding ids are told apart") {
  std::mt19937 random(17);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> events;
    for (int process = 0; process < 2; ++process) {
      int64_t now = 1'000 + static_cast<int64_t>(random() % 50);
      for (uint64_t i = 1; i <= 200; ++i) {
        now += 5 + static_cast<int64_t>(random() % 40);
        const uint64_t correlation = i * 7 + random() % 3 * 2;
        const bool copies = random() % 3 == 0;
        events.push_back(Launch(100 + process, now, correlation,
                                copies ? "cudaMemcpyAsync" : "cudaLaunchKernel"));
        EventText work = {.name = "p" + std::to_string(process),
                          .ts = std::to_string(now + 3 + static_cast<int64_t>(random() % 100)),
                          .dur = "1",
                          .pid = process,
                          .correlation = correlation,
                          .more = DeviceArgs(process, 1, 7)};
        events.push_back(SpanText(copies ? "gpu_memcpy" : "kernel", work));
      }
    }
    std::shuffle(events.begin(), events.end(), random);
    const Imported imported = ImportText(TraceOf(events));
    REQUIRE(imported.sessions.size() == 2);
    for (size_t session = 0; session < 2; ++session) {
      const std::vector<Event> work = imported.Lane("Stream 7", session);
      CHECK(work.size() == 200);
      for (const Event& event : work) {
        REQUIRE(imported.Name(event, session) == "p" + std::to_string(session));
        REQUIRE(event.launch_start_ns < event.start_ns);
      }
    }
  }
}

}  // namespace
}  // namespace nanolane::ingest::kineto
