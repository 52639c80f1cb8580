// What becomes of the events of a trace, on small traces written here.
#include "libs/ingest/kineto/kineto_import.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::CopyDirection;
using trace::Event;
using trace::LaneKind;
using trace::MemoryKind;
using trace::SyncKind;

std::string SyncText(const std::string& kind, const std::string& ts, uint64_t correlation,
                     const std::string& more) {
  return SpanText("cuda_sync", {.name = kind,
                                .ts = ts,
                                .dur = "4",
                                .tid = -1,
                                .correlation = correlation,
                                .more = ", \"cuda_sync_kind\": \"" + kind + "\"" + more});
}

std::string MemoryText(int type, int device, int64_t bytes, int64_t total, const std::string& ts) {
  return "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", "
         "\"pid\": 100, \"tid\": 100, \"ts\": " +
         ts +
         ", \"args\": {\"Total Reserved\": 4096, \"Total Allocated\": " + std::to_string(total) +
         ", \"Bytes\": " + std::to_string(bytes) +
         ", \"Addr\": 77, \"Device Id\": " + std::to_string(device) +
         ", \"Device Type\": " + std::to_string(type) + "}}";
}

TEST_CASE("a kernel has its shape, its launch and the stack of the launch") {
  const Imported imported = ImportText(TraceOf(
      {SpanText("python_function",
                {.name = "train.py(3): main", .ts = "0", .dur = "100", .pid = 100, .tid = 100}),
       SpanText("cpu_op", {.name = "aten::mm", .ts = "10", .dur = "50", .pid = 100, .tid = 100}),
       CallText({.name = "cudaLaunchKernel", .ts = "20", .dur = "5.5", .correlation = 9}),
       KernelText({.name = "sgemm",
                   .ts = "30",
                   .correlation = 9,
                   .more = ", \"registers per thread\": 122, \"shared memory\": 12544, "
                           "\"grid\": [8, 16, 5], \"block\": [128, 1, 1]"})}));
  const Event kernel = imported.Lane("Stream 7").at(0);
  CHECK(kernel.launch_start_ns == 20'000);
  CHECK(kernel.launch_duration_ns == 5'500);
  CHECK(kernel.thread == 100);
  CHECK(kernel.correlation == 9);
  CHECK(imported.Stack(kernel) == std::vector<std::string>{"main", "aten::mm", "cudaLaunchKernel"});
  const trace::Op& op = imported.OpOf(kernel);
  CHECK(op.grid == std::array<uint32_t, 3>{8, 16, 5});
  CHECK(op.block == std::array<uint32_t, 3>{128, 1, 1});
  CHECK(op.registers_per_thread == 122);
  CHECK(op.dynamic_shared_bytes == 12'544);
  CHECK(op.family == trace::OpFamily::kGemm);
}

TEST_CASE("keys in another order and categories after their args read the same") {
  const Imported imported = ImportText(TraceOf(
      {"{\"args\": {\"stream\": 3, \"correlation\": 4, \"device\": 2}, \"dur\": 1.5, \"ts\": 7, "
       "\"tid\": 3, \"pid\": 2, \"name\": \"k\", \"cat\": \"kernel\", \"ph\": \"X\"}",
       "{\"args\": {\"correlation\": 4}, \"dur\": 1, \"ts\": 5, \"tid\": 1, \"pid\": 1, "
       "\"name\": \"cudaLaunchKernel\", \"cat\": \"cuda_runtime\", \"ph\": \"X\"}"}));
  const Event kernel = imported.Lane("Stream 3").at(0);
  CHECK(kernel.duration_ns == 1'500);
  CHECK(kernel.launch_start_ns == 5'000);
}

TEST_CASE("a copy has direction, kinds of memory, bytes and whether its call was asynchronous") {
  const std::string name = "Memcpy DtoH (Device -> Pinned)";
  const auto copy = [&](uint64_t correlation) {
    return SpanText("gpu_memcpy", {.name = name,
                                   .ts = "50",
                                   .correlation = correlation,
                                   .more = DeviceArgs(0, 1, 7) + ", \"bytes\": 4096"});
  };
  const Imported imported = ImportText(
      TraceOf({CallText({.name = "cudaMemcpyAsync", .ts = "1", .correlation = 1}),
               CallText({.name = "cudaMemcpy", .ts = "2", .correlation = 2}), copy(1), copy(2)}));
  const std::vector<Event> copies = imported.Lane("Stream 7");
  const trace::Op& op = imported.OpOf(copies.at(0));
  CHECK(op.copy_direction == CopyDirection::kDeviceToHost);
  CHECK(op.source_memory == MemoryKind::kDevice);
  CHECK(op.destination_memory == MemoryKind::kPinned);
  CHECK(op.is_async);
  CHECK_FALSE(imported.OpOf(copies.at(1)).is_async);
  CHECK(copies[0].bytes == 4'096);
}

TEST_CASE("synchronizing calls are syncs where there are no records of them") {
  const Imported imported = ImportText(TraceOf(
      {CallText({.name = "cudaStreamSynchronize", .ts = "10", .dur = "90", .correlation = 1}),
       CallText({.name = "cudaStreamWaitEvent", .ts = "200", .correlation = 2}),
       CallText({.name = "cudaDeviceSynchronize", .ts = "300", .dur = "50", .correlation = 3}),
       // The driver's call under it is the same wait.
       SpanText("cuda_driver",
                {.name = "cuCtxSynchronize", .ts = "305", .dur = "40", .pid = 100, .tid = 100})}));
  CHECK(imported.Count("sync") == 2);
  const std::vector<Event> syncs = imported.Lane("No stream (sync)");
  CHECK(syncs.at(0).start_ns == 10'000);
  CHECK(syncs.at(0).duration_ns == 90'000);
  CHECK(syncs.at(0).thread == 100);
  CHECK(imported.Stack(syncs[0]) == std::vector<std::string>{"cudaStreamSynchronize"});
  CHECK(imported.OpOf(syncs[0]).sync_kind == SyncKind::kStream);
  CHECK(imported.OpOf(syncs.at(1)).sync_kind == SyncKind::kDevice);
}

TEST_CASE("where there are records of synchronization, calls are their launches and no syncs") {
  const std::string place = ", \"device\": 0, \"context\": 1";
  const Imported imported = ImportText(TraceOf(
      {CallText({.name = "cudaEventSynchronize", .ts = "10", .dur = "6", .correlation = 1}),
       SyncText("Event Sync", "11", 1, place + ", \"stream\": -1, \"wait_on_stream\": 20"),
       SyncText("Event Sync", "31", 2, place + ", \"stream\": -1, \"wait_on_stream\": -1"),
       SyncText("Stream Sync", "51", 3, place + ", \"stream\": 24"),
       SyncText("Stream Wait Event", "71", 4, place + ", \"stream\": 24, \"wait_on_stream\": 20"),
       SyncText("Context Sync", "91", 5, place + ", \"stream\": -1"),
       SyncText("Event Sync", "95", 6,
                place + ", \"stream\": 4294967295, \"wait_on_stream\": 4294967295"),
       CallText({.name = "cudaStreamWaitEvent", .ts = "70", .dur = "9", .correlation = 4}),
       CallText({.name = "cudaDeviceSynchronize", .ts = "500", .dur = "9"})}));
  CHECK(imported.Count("sync") == 6);
  const std::vector<Event> event_sync = imported.Lane("Stream 20 (sync)");
  REQUIRE(event_sync.size() == 1);
  CHECK(event_sync[0].start_ns == 11'000);
  CHECK(event_sync[0].duration_ns == 4'000);
  CHECK(event_sync[0].launch_start_ns == 10'000);
  CHECK(event_sync[0].thread == 100);
  CHECK(imported.OpOf(event_sync[0]).sync_kind == SyncKind::kEvent);
  CHECK(imported.Lane("No stream (sync)").size() == 3);
  const std::vector<Event> stream24 = imported.Lane("Stream 24 (sync)");
  REQUIRE(stream24.size() == 2);
  CHECK(stream24[0].duration_ns == 4'000);
  CHECK(imported.OpOf(stream24[1]).sync_kind == SyncKind::kStreamWaitEvent);
  CHECK(stream24[1].duration_ns == 0);
  CHECK(stream24[1].launch_start_ns == 70'000);
  CHECK(stream24[1].launch_duration_ns == 9'000);
}

TEST_CASE("a wait of a stream without a call keeps the record's times as the call's") {
  const Imported imported = ImportText(TraceOf(
      {SyncText("Stream Wait Event", "71", 4, ", \"device\": 0, \"context\": 1, \"stream\": 24")}));
  const Event event = imported.Lane("Stream 24 (sync)").at(0);
  CHECK(event.start_ns == 71'000);
  CHECK(event.duration_ns == 0);
  CHECK(event.launch_start_ns == 71'000);
  CHECK(event.launch_duration_ns == 4'000);
}

TEST_CASE("annotations lie on lanes of their thread and of their stream") {
  const Imported imported = ImportText(TraceOf(
      {SpanText("user_annotation", {.name = "inner", .ts = "10", .dur = "5", .pid = 100, .tid = 4}),
       SpanText("user_annotation", {.name = "outer", .ts = "10", .dur = "9", .pid = 100, .tid = 4}),
       SpanText("gpu_user_annotation", {.name = "outer", .ts = "20", .dur = "9"}),
       KernelText({.ts = "20"})}));
  CHECK(imported.Count("nvtx") == 3);
  const std::vector<Event> ranges = imported.Lane("NVTX thread 4");
  REQUIRE(ranges.size() == 2);
  CHECK(imported.Name(ranges[0]) == "outer");  // the longer one of an equal start is outside
  const MemorySession& session = imported.Session();
  bool found = false;
  for (const auto& [id, lane] : session.tables().lanes()) {
    if (lane.kind != LaneKind::kNvtxStream) continue;
    found = true;
    CHECK(lane.stream == 7);
    CHECK(lane.gpu_index == 0);
    CHECK(lane.context == 1);  // of the one stream 7 that the device has
  }
  CHECK(found);
}

TEST_CASE("memory instants of GPUs are a series, those of the host are not") {
  const Imported imported = ImportText(TraceOf(
      {SpanText("cpu_op", {.name = "aten::empty", .ts = "5", .dur = "20", .pid = 100, .tid = 100}),
       MemoryText(1, 0, 512, 512, "10"), MemoryText(0, -1, 64, 64, "11"),
       MemoryText(1, 0, -512, 0, "30"), MemoryText(6, 2, 8, 8, "12")}));
  CHECK(imported.Count("memory") == 3);
  CHECK(imported.sessions[0].left_out.empty());
  const MemorySession& session = imported.Session();
  for (const auto& [id, events] : session.events) {
    const trace::Lane& lane = *session.tables().LaneOf(id);
    CHECK(lane.kind == LaneKind::kMemoryFramework);
    if (lane.gpu_index != 0) continue;
    REQUIRE(events.size() == 2);
    CHECK(imported.Name(events[0]) == "alloc");
    CHECK(events[0].bytes == 512);
    CHECK(events[0].address == 77);
    CHECK(events[0].level_bytes == 512);
    CHECK(events[0].reserved_bytes == 4'096);
    CHECK(events[0].thread == 100);
    CHECK(imported.Stack(events[0]) == std::vector<std::string>{"aten::empty"});
    CHECK(imported.Name(events[1]) == "free");
    CHECK(events[1].bytes == -512);
    CHECK(events[1].level_bytes == 0);
    CHECK(events[1].stack == 0);
  }
}

TEST_CASE("the session carries what the file says of process, rank, host and GPUs") {
  const Imported imported = ImportText(
      "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"totalGlobalMem\": "
      "150109880320}, {\"id\": 1, \"name\": \"other\"}], \"distributedInfo\": {\"rank\": 3, "
      "\"world_size\": 8}, \"metadata\": {\"system\": {\"uname\": {\"node\": \"box\"}}}, "
      "\"traceName\": \"t.json\", \"traceEvents\": [" +
          KernelText({.correlation = 1}) + "," +
          CallText({.name = "cudaLaunchKernel", .ts = "1", .correlation = 1}) +
          ", {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 100, \"tid\": 0, \"ts\": 0, "
          "\"args\": {\"name\": \"python3\"}}]}",
      {.project = "lab"});
  const nanolane::trace::v1::Session& session = imported.Session().session;
  CHECK(session.session_id().size() == 32);
  CHECK(session.project() == "lab");
  CHECK(imported.sessions[0].project == "lab");
  CHECK(session.pid() == 100);
  CHECK(session.executable() == "python3");
  CHECK(session.host() == "box");
  CHECK(session.source() == "import:trace.json");
  CHECK(session.labels().at("rank") == "3");
  CHECK(session.labels().at("world_size") == "8");
  CHECK(session.labels().at("trace_name") == "t.json");
  REQUIRE(session.gpus_size() == 1);
  CHECK(session.gpus(0).name() == "NVIDIA H200");
  CHECK(session.gpus(0).memory_bytes() == 150'109'880'320U);
  CHECK(session.ended());
}

TEST_CASE("the same content, compressed or renamed, is the same session and written once") {
  const TempFolder folder;
  const std::string text = TraceOf({KernelText({}), KernelText({.dur = "-9"})});
  Imported imported;
  ImportFile(folder.Write("a.json", text), imported);
  const ImportedSession first = imported.sessions.at(0);
  CHECK_FALSE(first.already_stored);
  ImportFile(folder.Write("b.json.gz", Gzip(text)), imported);
  const ImportedSession again = imported.sessions.at(0);
  CHECK(again.already_stored);
  CHECK(again.session_id == first.session_id);
  CHECK(again.events == 1);
  CHECK(again.by_kind == first.by_kind);
  REQUIRE(again.left_out.size() == 1);
  CHECK(again.left_out[0].reason == first.left_out.at(0).reason);
  CHECK(imported.sinks.opened == 1);
  ImportFile(folder.Write("c.json", text + "\n"), imported);
  CHECK(imported.sessions.at(0).session_id != first.session_id);
}

TEST_CASE("an import that spills gives what one in memory gives") {
  std::mt19937 random(9);
  std::vector<std::string> events;
  for (uint64_t i = 1; i <= 6'000; ++i) {
    const auto at = static_cast<int64_t>(random() % 100'000);
    events.push_back(SpanText("cpu_op", {.name = "op" + std::to_string(random() % 50),
                                         .ts = std::to_string(at),
                                         .dur = std::to_string(random() % 500),
                                         .pid = 100,
                                         .tid = static_cast<int64_t>(100 + random() % 3)}));
    events.push_back(CallText({.name = "cudaLaunchKernel",
                               .ts = std::to_string(at + 1),
                               .dur = "3",
                               .tid = static_cast<int64_t>(100 + random() % 3),
                               .correlation = i}));
    events.push_back(KernelText({.name = "k" + std::to_string(random() % 20),
                                 .ts = std::to_string(at + 10),
                                 .tid = static_cast<int64_t>(7 + random() % 3),
                                 .correlation = i}));
    if (i % 5 == 0) events.push_back(MemoryText(1, 0, 8, 8, std::to_string(at)));
  }
  std::shuffle(events.begin(), events.end(), random);
  const std::string text = TraceOf(events);
  const TempFolder folder;
  const Imported small =
      ImportText(text, {.memory_budget_bytes = 100'000, .spill_dir = folder.path()});
  const Imported large = ImportText(text);
  REQUIRE(small.status.ok());
  CHECK(small.Session().events == large.Session().events);
  CHECK(small.Count("kernel") == 6'000);
  for (const auto& [lane, written] : large.Session().events) {
    CHECK(std::is_sorted(written.begin(), written.end(),
                         [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; }));
  }
}

TEST_CASE("no room for temporary files is told with what to do") {
  std::vector<std::string> events(2'000, KernelText({}));
  const Imported imported =
      ImportText(TraceOf(events), {.memory_budget_bytes = 1, .spill_dir = "/nonexistent-folder"});
  CHECK_FALSE(imported.status.ok());
  CHECK(std::string(imported.status.message()).find("TMPDIR") != std::string::npos);
}

TEST_CASE("progress grows to the file's size and then counts what is written") {
  std::vector<std::string> events(50'000, KernelText({}));
  ImportProgress last;
  bool monotonic = true;
  const Imported imported = ImportText(
      TraceOf(events), {.progress = [&](const ImportProgress& now) {
        monotonic = monotonic && now.bytes_read >= last.bytes_read && now.events >= last.events &&
                    now.events_written >= last.events_written;
        last = now;
      }});
  CHECK(monotonic);
  CHECK(last.bytes_read == last.bytes_total);
  CHECK(last.events == 50'000);
  CHECK(last.events_written == 50'000);
}

TEST_CASE("a sink that fails ends the import with its error") {
  class FailingSinks final : public SinkFactory {
   public:
    absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> FindEnded(
        const std::string&) override {
      return std::nullopt;
    }
    absl::StatusOr<std::unique_ptr<SessionSink>> Open(
        const nanolane::trace::v1::Session&) override {
      return absl::UnavailableError("the store has gone away");
    }
  };
  const TempFolder folder;
  FailingSinks sinks;
  const auto result = ImportKineto(folder.Write("a.json", TraceOf({KernelText({})})), sinks, {});
  CHECK(result.status().code() == absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace nanolane::ingest::kineto
