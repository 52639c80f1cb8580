// Real traces, against counts and digests that testdata/expected.py worked out on its own. They are
// not part of the project: where they are missing, the cases say so and pass.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::Event;

// The file's path, or nothing, after a warning, where it is not there.
std::optional<std::string> FindTrace(const std::string& name) {
  const char* chosen = std::getenv("NANOLANE_DATA_DIR");
  const std::filesystem::path folder = chosen != nullptr ? chosen : NANOLANE_DATA_DIR;
  for (const auto& path : {folder / name, folder / "public" / name}) {
    if (std::filesystem::exists(path)) return path.string();
  }
  WARN("skipped: no " << name << " in " << folder << " (set NANOLANE_DATA_DIR)");
  return std::nullopt;
}

uint64_t Fnv1a(const std::string& text) {
  uint64_t value = 0xCBF29CE484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

std::string LaneText(const trace::Lane& lane) {
  return std::to_string(lane.gpu_index) + " " + trace::LaneLabel(lane);
}

// The line that testdata/expected.py makes of an event.
std::string Line(const trace::Dictionary& tables, const trace::Lane& lane, const Event& event) {
  std::string text =
      std::to_string(lane.gpu_index) + "|" + trace::LaneLabel(lane) + "|" + tables.OpName(event.op);
  const bool launched = event.launch_start_ns != trace::kNoTime;
  for (const int64_t number :
       {event.start_ns, event.duration_ns, launched ? event.launch_start_ns : -1,
        event.launch_duration_ns, static_cast<int64_t>(event.thread),
        static_cast<int64_t>(event.correlation), event.bytes}) {
    text += "|" + std::to_string(number);
  }
  for (const trace::FrameId frame : tables.Frames(event.stack)) {
    text += "|" + tables.String(tables.FrameOf(frame).module);
  }
  return text;
}

struct Expected {
  std::string file;
  uint64_t digest;
  std::map<std::string, uint64_t> lanes;
};

const std::vector<Expected>& Table() {
  static const std::vector<Expected> table = {
      {"embed_stack.pt.trace.json.gz",
       0x901b8189d628d0f0,
       {{"-1 No stream (sync)", 37}, {"0 Stream 7", 942}}},
      {"train_gpt.pt.trace.json.gz",
       0xecf2e36a2d42184e,
       {{"-1 NVTX thread 545", 36},
        {"-1 No stream (sync)", 16},
        {"0 GPU memory (framework)", 20330},
        {"0 NVTX stream 7", 24},
        {"0 Stream 13", 12},
        {"0 Stream 7", 17468}}},
      {"hta_df_index_resolver.json.gz",
       0x9eb25dcaed796e3e,
       {{"-1 NVTX thread 783658", 15},
        {"-1 NVTX thread 785244", 2020},
        {"-1 No stream (sync)", 1},
        {"1 GPU memory (framework)", 26770},
        {"1 Stream 14", 2020},
        {"1 Stream 7", 20270}}},
      {"hta_event_sync_multi_stream.json.gz",
       0x795d2a28170cbd57,
       {{"0 No stream (sync)", 2},
        {"0 Stream 20", 2},
        {"0 Stream 20 (sync)", 1},
        {"0 Stream 24", 2},
        {"0 Stream 24 (sync)", 1},
        {"0 Stream 28", 2},
        {"0 Stream 28 (sync)", 1}}},
      {"tracelens_b200_eager.json.gz",
       0xe29af57673ece975,
       {{"-1 NVTX thread 6583", 3}, {"0 NVTX stream 7", 3}, {"0 Stream 7", 929}}},
      {"tracelens_h100_qwen.json.gz",
       0x07994a2c18184aa4,
       {{"-1 NVTX thread 25286", 1},
        {"-1 No stream (sync)", 3},
        {"0 GPU memory (framework)", 2250},
        {"0 NVTX stream 7", 1},
        {"0 Stream 7", 1707}}},
      {"tracelens_mi300_qwen.json.gz",
       0xca7e1084986d9426,
       {{"-1 NVTX thread 23232", 1},
        {"-1 No stream (sync)", 2},
        {"0 GPU memory (framework)", 2588},
        {"2 NVTX stream 0", 1},
        {"2 Stream 0", 1517}}},
  };
  return table;
}

// Imports one of the traces. False: it is missing.
bool ImportTrace(const std::string& name, Imported& imported, const KinetoOptions& options = {}) {
  const std::optional<std::string> path = FindTrace(name);
  if (!path.has_value()) return false;
  ImportFile(*path, imported, options);
  REQUIRE(imported.status.ok());
  return true;
}

void CheckAgainst(const Expected& expected, const Imported& imported) {
  REQUIRE(imported.sessions.size() == 1);
  CHECK(imported.sessions[0].left_out.empty());
  std::map<std::string, uint64_t> lanes;
  uint64_t digest = 0;
  uint64_t events = 0;
  const trace::Dictionary& tables = imported.Session().tables();
  for (const auto& [id, written] : imported.Session().events) {
    const trace::Lane& lane = *tables.LaneOf(id);
    lanes[LaneText(lane)] += written.size();
    for (const Event& event : written) digest += Fnv1a(Line(tables, lane, event));
    events += written.size();
    CHECK(std::is_sorted(written.begin(), written.end(),
                         [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; }));
  }
  CHECK(lanes == expected.lanes);
  CHECK(digest == expected.digest);
  CHECK(imported.sessions[0].events == events);
}

TEST_CASE("every event of every real trace is what an independent reading of the file gives") {
  for (const Expected& expected : Table()) {
    INFO(expected.file);
    Imported imported;
    if (ImportTrace(expected.file, imported)) CheckAgainst(expected, imported);
  }
}

TEST_CASE("real traces give the same under a budget that makes everything spill") {
  const TempFolder folder;
  for (const Expected& expected : Table()) {
    INFO(expected.file);
    Imported imported;
    if (ImportTrace(expected.file, imported,
                    {.memory_budget_bytes = 400'000, .spill_dir = folder.path()})) {
      CheckAgainst(expected, imported);
    }
  }
}

TEST_CASE("counts by kind are those of the files") {
  const std::vector<std::pair<std::string, std::map<std::string, uint64_t>>> table = {
      {"embed_stack.pt.trace.json.gz",
       {{"kernel", 900}, {"memcpy", 42}, {"memset", 0}, {"sync", 37}, {"nvtx", 0}, {"memory", 0}}},
      {"train_gpt.pt.trace.json.gz",
       {{"kernel", 16710},
        {"memcpy", 50},
        {"memset", 720},
        {"sync", 16},
        {"nvtx", 60},
        {"memory", 20330}}},
      {"hta_df_index_resolver.json.gz",
       {{"kernel", 19370},
        {"memcpy", 2040},
        {"memset", 880},
        {"sync", 1},
        {"nvtx", 2035},
        {"memory", 26770}}},
      {"tracelens_h100_qwen.json.gz",
       {{"kernel", 1465},
        {"memcpy", 1},
        {"memset", 241},
        {"sync", 3},
        {"nvtx", 2},
        {"memory", 2250}}},
      {"tracelens_mi300_qwen.json.gz",
       {{"kernel", 1516},
        {"memcpy", 1},
        {"memset", 0},
        {"sync", 2},
        {"nvtx", 2},
        {"memory", 2588}}},
      {"tracelens_b200_eager.json.gz",
       {{"kernel", 768}, {"memcpy", 161}, {"memset", 0}, {"sync", 0}, {"nvtx", 6}, {"memory", 0}}},
  };
  for (const auto& [file, counts] : table) {
    Imported imported;
    INFO(file);
    if (ImportTrace(file, imported)) CHECK(imported.sessions.at(0).by_kind == counts);
  }
}

// One line of the small trace, read by eye from the file.
struct SmallRow {
  const char* lane;
  const char* name;
  int64_t start_us, duration_us, launch_start_us, launch_duration_us;
  uint64_t correlation;
  int64_t bytes;
  trace::SyncKind sync;
  std::vector<std::string> stack;
};

TEST_CASE("the small trace of three streams, event by event") {
  using trace::SyncKind;
  Imported imported;
  if (!ImportTrace("hta_event_sync_multi_stream.json.gz", imported)) return;
  constexpr int64_t kBase = 1'712'867'402'000'000;
  const std::vector<std::string> query = {"aten::matmul", "aten::mm", "cudaEventQuery"};
  const std::vector<std::string> launch = {"aten::matmul", "aten::mm", "cudaLaunchKernel"};
  const std::vector<std::string> memset = {"aten::matmul", "aten::mm", "cudaMemsetAsync"};
  const std::string gemm = "ampere_sgemm_128x64_nn";
  const std::vector<SmallRow> rows = {
      {"No stream (sync)", "Event Sync", 348'628, 4, 348'626, 6, 24, 0, SyncKind::kEvent, query},
      {"Stream 20", "Memset (Device)", 348'667, 1, 348'643, 18, 25, 512, SyncKind::kNone, memset},
      {"Stream 20", gemm.c_str(), 348'700, 123, 348'670, 31, 27, 0, SyncKind::kNone, launch},
      {"Stream 20 (sync)", "Event Sync", 349'057, 4, 349'056, 5, 54, 0, SyncKind::kEvent, query},
      {"Stream 28", "Memset (Device)", 349'081, 1, 349'066, 10, 55, 512, SyncKind::kNone, memset},
      {"Stream 28", gemm.c_str(), 349'097, 123, 349'081, 14, 57, 0, SyncKind::kNone, launch},
      {"Stream 24 (sync)",
       "Stream Wait Event",
       367'683,
       0,
       367'682,
       3,
       1389,
       0,
       SyncKind::kStreamWaitEvent,
       {"cudaStreamWaitEvent"}},
      {"Stream 28 (sync)", "Event Sync", 368'008, 4, 368'008, 5, 1410, 0, SyncKind::kEvent, query},
      {"Stream 24", "Memset (Device)", 368'034, 1, 368'020, 10, 1411, 512, SyncKind::kNone, memset},
      {"Stream 24", gemm.c_str(), 368'050, 123, 368'035, 14, 1413, 0, SyncKind::kNone, launch},
      {"No stream (sync)",
       "Context Sync",
       368'167,
       19,
       368'166,
       20,
       1424,
       0,
       SyncKind::kContext,
       {"cudaDeviceSynchronize"}},
  };
  std::map<std::string, size_t> next;
  for (const SmallRow& row : rows) {
    const std::vector<Event> lane = imported.Lane(row.lane);
    const size_t i = next[row.lane]++;
    INFO(row.lane << " " << i);
    REQUIRE(i < lane.size());
    const Event& event = lane[i];
    CHECK(imported.Name(event) == row.name);
    CHECK(event.start_ns == (kBase + row.start_us) * 1'000);
    CHECK(event.duration_ns == row.duration_us * 1'000);
    CHECK(event.launch_start_ns == (kBase + row.launch_start_us) * 1'000);
    CHECK(event.launch_duration_ns == row.launch_duration_us * 1'000);
    CHECK(event.correlation == row.correlation);
    CHECK(event.bytes == row.bytes);
    CHECK(event.thread == 3'727'853);
    CHECK(imported.OpOf(event).sync_kind == row.sync);
    CHECK(imported.Stack(event) == row.stack);
    if (row.name == gemm) {
      const trace::Op& op = imported.OpOf(event);
      CHECK(op.grid == std::array<uint32_t, 3>{8, 16, 5});
      CHECK(op.block == std::array<uint32_t, 3>{128, 1, 1});
      CHECK(op.registers_per_thread == 122);
      CHECK(op.dynamic_shared_bytes == 12'544);
    } else if (row.bytes == 512) {
      CHECK(imported.OpOf(event).is_async);
      CHECK(imported.OpOf(event).destination_memory == trace::MemoryKind::kDevice);
    }
  }
  CHECK(imported.sessions[0].events == rows.size());
  for (const auto& [id, lane] : imported.Session().tables().lanes()) {
    CHECK(lane.gpu_index == 0);
    CHECK(lane.context == 1);
  }
  const nanolane::trace::v1::Session& session = imported.Session().session;
  CHECK(session.pid() == 3'727'853);
  CHECK(session.executable() == "python3.10");
  CHECK(session.labels().at("rank") == "0");
  CHECK(session.clock().unix_offset_known());
  CHECK(session.clock().unix_offset_ns() == 0);
}

TEST_CASE("every kernel of the encoder has a Python stack, a sixth of them in each layer") {
  Imported imported;
  if (!ImportTrace("embed_stack.pt.trace.json.gz", imported)) return;
  const trace::Dictionary& tables = imported.Session().tables();
  std::map<std::string, size_t> in_layer;
  size_t kernels = 0;
  for (const Event& event : imported.Lane("Stream 7")) {
    if (imported.OpOf(event).kind != trace::EventKind::kKernel) continue;
    ++kernels;
    bool python = false;
    std::string text;
    for (const trace::FrameId frame : tables.Frames(event.stack)) {
      const trace::Symbol& symbol = tables.SymbolOf(frame);
      python = python || (symbol.language == trace::Language::kPython && symbol.line > 0);
      text = tables.String(symbol.function);
      if (text.starts_with("nn.Module: BertLayer_")) ++in_layer[text];
    }
    CHECK(python);
    // The last frame is the call.
    CHECK(
        (text == "cudaLaunchKernel" || text == "cudaLaunchKernelExC" || text == "cuLaunchKernel"));
  }
  CHECK(kernels == 900);
  REQUIRE(in_layer.size() == 6);
  for (const auto& [layer, count] : in_layer) CHECK(count == in_layer.begin()->second);
}

TEST_CASE("the application's own frames are told from the framework's") {
  Imported imported;
  if (!ImportTrace("embed_stack.pt.trace.json.gz", imported)) return;
  const trace::Dictionary& tables = imported.Session().tables();
  const Event event = imported.Lane("Stream 7").at(400);
  std::vector<std::string> own;
  for (const trace::FrameId frame : tables.Frames(event.stack)) {
    const trace::Symbol& symbol = tables.SymbolOf(frame);
    if (symbol.category == trace::FrameCategory::kApplication) {
      own.push_back(tables.String(symbol.file) + " " + tables.String(symbol.function));
    }
  }
  CHECK(own == std::vector<std::string>{"embed.py <module>", "embed.py encode_plain"});
}

TEST_CASE("all kernels of each graph replay share its launch") {
  Imported imported;
  if (!ImportTrace("train_gpt.pt.trace.json.gz", imported)) return;
  std::map<uint64_t, std::vector<Event>> replays;
  for (const Event& event : imported.Lane("Stream 7")) {
    const std::vector<std::string> stack = imported.Stack(event);
    if (!stack.empty() && stack.back() == "cudaGraphLaunch") {
      replays[event.correlation].push_back(event);
    }
  }
  CHECK(replays.size() == 10);
  for (const auto& [correlation, events] : replays) {
    CHECK(events.size() == 81);
    for (const Event& event : events) {
      CHECK(event.launch_start_ns == events.front().launch_start_ns);
      CHECK(event.launch_start_ns < event.start_ns);
    }
  }
}

TEST_CASE("the first kernels of the H100 trace have no launch, all others have one") {
  Imported imported;
  if (!ImportTrace("tracelens_h100_qwen.json.gz", imported)) return;
  const std::vector<Event> events = imported.Lane("Stream 7");
  size_t without = 0;
  while (events.at(without).launch_start_ns == trace::kNoTime) ++without;
  CHECK(without == 509);
  CHECK(events[508].start_ns - events[0].start_ns < 14'500'000);
  for (size_t i = without; i < events.size(); ++i) {
    CHECK(events[i].launch_start_ns != trace::kNoTime);
  }
}

}  // namespace
}  // namespace nanolane::ingest::kineto
