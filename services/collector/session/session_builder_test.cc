#include "services/collector/session/session_builder.h"

#include <cstring>

#include "catch2/catch.hpp"
#include "services/collector/session/losses.h"
#include "services/collector/session/testing/capture_rig.h"

namespace nanolane::collector {
namespace {

using trace::kNoTime;
using trace::LaneKind;

void WriteDevice(RingWriter& writer, uint32_t device) {
  wire::DeviceFact fact = {};
  fact.uuid[0] = 0xAB;
  fact.memory_bytes = 80;
  std::strcpy(fact.name, "NVIDIA H200");
  writer.WriteFact(wire::FactType::kDevice, device, fact);
}

uint64_t LossOf(const CaptureRig& rig, const std::string& part) {
  uint64_t count = 0;
  for (const auto& loss : Losses(rig.reader, rig.batch.builder())) {
    if (loss.reason().find(part) != std::string::npos) count += loss.count();
  }
  return count;
}

constexpr uint16_t kLaunchKernel = 211;
constexpr uint16_t kGraphLaunch = 311;

}  // namespace

TEST_CASE("a kernel stands on its stream with its launch call and its shape") {
  CaptureRig rig;
  WriteDevice(rig.writer, 1);
  rig.writer.WriteName(4, "_Z4gemmPf");
  rig.writer.Write(
      77, wire::LaunchRecord{
              .start_ns = 100, .duration_ns = 10, .correlation = 9, .cbid = kLaunchKernel});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 150,
                                         .duration_ns = 40,
                                         .correlation = 9,
                                         .name = 4,
                                         .device = 1,
                                         .context = 2,
                                         .stream = 7,
                                         .grid = {1, 2, 3},
                                         .block = {4, 5, 6},
                                         .registers_per_thread = 32,
                                         .static_shared_bytes = 64,
                                         .dynamic_shared_bytes = 128});
  rig.Drain();
  const SeenEvent& seen = rig.only();
  CHECK(seen.lane == trace::Lane{.kind = LaneKind::kStream,
                                 .gpu_uuid = "GPU-ab000000-0000-0000-0000-000000000000",
                                 .gpu_index = 1,
                                 .context = 2,
                                 .stream = 7});
  CHECK(seen.name == "gemm(float*)");
  CHECK(seen.op.family == trace::OpFamily::kGemm);
  CHECK(seen.op.grid == std::array<uint32_t, 3>{1, 2, 3});
  CHECK(seen.op.block == std::array<uint32_t, 3>{4, 5, 6});
  CHECK(seen.op.registers_per_thread == 32);
  CHECK(seen.op.static_shared_bytes == 64);
  CHECK(seen.op.dynamic_shared_bytes == 128);
  CHECK(seen.event.start_ns == 150);
  CHECK(seen.event.duration_ns == 40);
  CHECK(seen.event.launch_start_ns == 100);
  CHECK(seen.event.launch_duration_ns == 10);
  CHECK(seen.event.thread == 77);
  CHECK(seen.event.correlation == 9);
  rig.Finish();
  CHECK(LossOf(rig, "") == 0);
}

TEST_CASE("device work waits for its launch call, up to its time") {
  CaptureRig rig({.join_wait_ns = 500});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 150, .correlation = 9});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 160, .correlation = 10});
  rig.Drain(1000);
  CHECK(rig.events().empty());
  CHECK(rig.batch.builder().held() == 2);
  rig.writer.Write(77, wire::LaunchRecord{.start_ns = 100, .correlation = 9});
  rig.Drain(1499);
  CHECK(rig.only().event.launch_start_ns == 100);
  CHECK(rig.only().event.thread == 77);
  rig.Drain(1500);
  REQUIRE(rig.events().size() == 2);
  CHECK(rig.events()[1].event.start_ns == 160);
  CHECK(rig.events()[1].event.launch_start_ns == kNoTime);
  CHECK(LossOf(rig, "launch calls of device work") == 1);
}

TEST_CASE("device work that was launched before the first launch call seen lacks nothing") {
  CaptureRig rig({.join_wait_ns = 500});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 150, .correlation = 8});
  rig.writer.Write(77, wire::LaunchRecord{.start_ns = 100, .correlation = 9});
  rig.Drain(1000);
  rig.Drain(1500);
  CHECK(rig.only().event.start_ns == 150);
  CHECK(rig.only().event.launch_start_ns == kNoTime);
  CHECK(LossOf(rig, "launch calls of device work") == 0);
  CHECK(rig.batch.builder().counts().launched_before == 1);
}

TEST_CASE("without launch calls device work waits for nothing") {
  CaptureRig rig({.kinds = wire::kKindKernel});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 150, .correlation = 9});
  rig.Drain();
  CHECK(rig.only().event.launch_start_ns == kNoTime);
  CHECK(LossOf(rig, "") == 0);
}

TEST_CASE("all kernels of a graph have its launch call") {
  CaptureRig rig;
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 1, .correlation = 9, .graph_node = 1});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 2, .correlation = 9, .graph_node = 2});
  rig.writer.Write(77, wire::LaunchRecord{.start_ns = 0, .correlation = 9, .cbid = kGraphLaunch});
  rig.Drain();
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 3, .correlation = 9, .graph_node = 3});
  rig.Finish();
  REQUIRE(rig.events().size() == 3);
  for (const SeenEvent& seen : rig.events()) {
    CHECK(seen.event.launch_start_ns == 0);
    CHECK(seen.event.graph_node == static_cast<uint64_t>(seen.event.start_ns));
  }
  CHECK(LossOf(rig, "") == 0);
}

TEST_CASE("kernel launches without a kernel are counted, others are not") {
  CaptureRig rig;
  rig.writer.Write(7, wire::LaunchRecord{.correlation = 1, .cbid = kLaunchKernel});
  rig.writer.Write(7, wire::LaunchRecord{.correlation = 2, .cbid = kGraphLaunch});
  rig.writer.Write(7, wire::LaunchRecord{.correlation = 3, .cbid = 41});  // cudaMemcpyAsync
  rig.writer.Write(7, wire::LaunchRecord{.correlation = 4, .cbid = 307, .domain = 1});
  rig.Finish();
  CHECK(LossOf(rig, "kernel launches without a device record") == 2);
}

TEST_CASE("a launch holds its page until its work is stored") {
  CaptureRig rig({}, 64);
  rig.writer.Write(7, wire::LaunchRecord{.correlation = 1});
  rig.writer.CloseAll();
  rig.Drain();
  CHECK(rig.reader.Release() == 0);
  rig.writer.Write(8, wire::KernelRecord{.correlation = 1});
  rig.writer.CloseAll();
  rig.Drain();
  CHECK(rig.reader.Release() == 2);
}

TEST_CASE("copies are named as PyTorch names them, and say where from and where to") {
  CaptureRig rig;
  rig.writer.Write(5, wire::MemcpyRecord{.start_ns = 1,
                                         .duration_ns = 2,
                                         .bytes = 4096,
                                         .device = 0,
                                         .stream = 7,
                                         .copy_kind = 1,
                                         .source_kind = 1,
                                         .destination_kind = 3,
                                         .is_async = 1,
                                         .source_device = -1,
                                         .destination_device = -1});
  rig.Drain();
  const SeenEvent& seen = rig.only();
  CHECK(seen.name == "Memcpy HtoD (Pageable -> Device)");
  CHECK(seen.op.copy_direction == trace::CopyDirection::kHostToDevice);
  CHECK(seen.op.source_memory == trace::MemoryKind::kPageable);
  CHECK(seen.op.destination_memory == trace::MemoryKind::kDevice);
  CHECK(seen.op.is_async);
  CHECK(seen.event.bytes == 4096);
  CHECK(seen.lane.kind == LaneKind::kStream);
  CHECK(seen.op.attributes.empty());
}

TEST_CASE("copies between devices name both") {
  CaptureRig rig;
  rig.writer.Write(5, wire::MemcpyRecord{.copy_kind = 10,
                                         .source_kind = 3,
                                         .destination_kind = 3,
                                         .source_device = 2,
                                         .destination_device = 5});
  rig.Drain();
  CHECK(rig.only().name == "Memcpy PtoP (Device -> Device)");
  CHECK(rig.Attribute(rig.only(), "source device") == "GPU 2;");
  CHECK(rig.Attribute(rig.only(), "destination device") == "GPU 5;");
}

TEST_CASE("memsets say what memory they set") {
  CaptureRig rig;
  rig.writer.Write(5, wire::MemsetRecord{.bytes = 64, .memory_kind = 3});
  rig.Drain();
  CHECK(rig.only().name == "Memset (Device)");
  CHECK(rig.only().op.destination_memory == trace::MemoryKind::kDevice);
  CHECK(rig.only().event.bytes == 64);
}

TEST_CASE("waits stand beside what they wait for") {
  CaptureRig rig;
  rig.writer.WriteFact(wire::FactType::kContext, 3, wire::ContextFact{.device = 1});
  wire::SyncRecord record = {
      .start_ns = 10, .duration_ns = 5, .stream = 7, .event_stream = -1, .context = 3, .device = 1};
  const auto check = [&](LaneKind kind, int64_t stream, int32_t gpu, const std::string& name) {
    rig.writer.Write(42, record);
    rig.Drain();
    const SeenEvent& seen = rig.events().back();
    CHECK(seen.lane.kind == kind);
    CHECK(seen.lane.stream == stream);
    CHECK(seen.lane.gpu_index == gpu);
    CHECK(seen.name == name);
    CHECK(seen.event.launch_start_ns == 10);
    CHECK(seen.event.launch_duration_ns == 5);
    CHECK(seen.event.thread == 42);
    CHECK(seen.op.sync_kind == static_cast<trace::SyncKind>(record.sync_type));
    CHECK(seen.event.duration_ns ==
          (seen.op.sync_kind == trace::SyncKind::kStreamWaitEvent ? 0 : 5));
  };
  record.sync_type = 1;
  record.cbid = 131;
  check(LaneKind::kStreamSync, 7, 1, "cudaStreamSynchronize");
  CHECK(rig.events().back().lane.context == 3);
  record.sync_type = 2;
  record.cbid = 137;
  check(LaneKind::kStreamSync, 7, 1, "cudaEventSynchronize");
  record.stream = -1;
  check(LaneKind::kNoStreamSync, -1, 1, "cudaEventSynchronize");
  record.sync_type = 4;
  record.cbid = 165;
  record.device = -1;
  check(LaneKind::kNoStreamSync, -1, 1, "cudaDeviceSynchronize");  // by its context
  record.sync_type = 3;
  record.cbid = 800;
  record.domain = 1;
  record.context = 99;
  check(LaneKind::kNoStreamSync, -1, -1, "cuCtxSynchronize");
  record.sync_type = 5;
  record.cbid = 1;
  record.context = 3;
  record.stream = 8;
  record.event_stream = 7;
  check(LaneKind::kStreamSync, 8, 1, "stream wait event");
  CHECK(rig.Attribute(rig.events().back(), "recorded on") == "Stream 7;");
}

TEST_CASE("a wait that does not say its context stands beside the stream's work") {
  CaptureRig rig;
  rig.writer.Write(5, wire::KernelRecord{.device = 0, .context = 4, .stream = 7});
  rig.writer.Write(5, wire::SyncRecord{.stream = 7, .event_stream = -1, .sync_type = 1});
  rig.Drain();
  CHECK(rig.events().back().lane.kind == LaneKind::kStreamSync);
  CHECK(rig.events().back().lane.context == 4);
}

TEST_CASE("ranges stand on the thread that began them, by domain, and say what they miss") {
  CaptureRig rig;
  rig.writer.WriteName(1, "step");
  rig.writer.WriteName(2, "my domain");
  rig.writer.Write(5, wire::NvtxRecord{.start_ns = 1,
                                       .duration_ns = 9,
                                       .name = 1,
                                       .domain = 2,
                                       .thread = 31,
                                       .flags = wire::kNvtxStillOpen});
  rig.writer.Write(5, wire::NvtxRecord{.start_ns = 2,
                                       .duration_ns = 9,
                                       .thread = 31,
                                       .flags = wire::kNvtxMark | wire::kNvtxBeganBefore});
  rig.writer.Write(5, wire::NvtxRecord{.start_ns = 3, .name = 66, .thread = 31});
  rig.Drain();
  REQUIRE(rig.events().size() == 3);
  const SeenEvent& domain = rig.events()[2];  // its lane has the higher id or comes in lane order
  CHECK(domain.lane.kind == LaneKind::kNvtxThread);
  for (const SeenEvent& seen : rig.events()) {
    CHECK(seen.lane.thread == 31);
    CHECK(seen.event.thread == 31);
    if (seen.event.start_ns == 1) {
      CHECK(seen.lane.domain == "my domain");
      CHECK(seen.name == "step");
      CHECK(seen.event.duration_ns == 9);
      CHECK(rig.Attribute(seen, "extent") == "open when the capture ended;");
    } else if (seen.event.start_ns == 2) {
      CHECK(seen.lane.domain.empty());
      CHECK(seen.name == "(name not kept)");
      CHECK(seen.event.duration_ns == 0);
      CHECK(rig.Attribute(seen, "extent") == "began before the capture;");
    } else {
      CHECK(seen.name == "(unknown name)");
    }
  }
  CHECK(LossOf(rig, "names that did not arrive") == 1);
  // Once the name is known, it is used.
  rig.writer.WriteName(66, "late");
  rig.writer.Write(5, wire::NvtxRecord{.start_ns = 4, .name = 66, .thread = 31});
  rig.Drain();
  CHECK(rig.events().back().name == "late");
}

TEST_CASE("the driver's memory has a level from the baseline on") {
  CaptureRig rig;
  rig.writer.WriteFact(wire::FactType::kMemoryLevel, 0,
                       wire::MemoryLevelFact{.time_ns = 5, .used_bytes = 1000});
  rig.writer.Write(5, wire::MemoryRecord{.time_ns = 10,
                                         .bytes = 64,
                                         .address = 0xA0,
                                         .pool = 0xF0,
                                         .memory_kind = 3,
                                         .is_async = 1});
  rig.writer.Write(5, wire::MemoryRecord{.time_ns = 11, .bytes = -64, .memory_kind = 2});
  rig.Finish();
  REQUIRE(rig.events().size() == 2);
  const SeenEvent& first = rig.events()[0];
  CHECK(first.lane.kind == LaneKind::kMemoryDriver);
  CHECK(first.lane.gpu_index == 0);
  CHECK(first.name == "alloc");
  CHECK(first.op.is_async);
  CHECK(first.op.destination_memory == trace::MemoryKind::kDevice);
  CHECK(first.event.bytes == 64);
  CHECK(first.event.address == 0xA0);
  CHECK(first.event.pool == 1);
  CHECK(first.event.level_bytes == 1064);
  CHECK(rig.events()[1].name == "free");
  CHECK(rig.events()[1].op.destination_memory == trace::MemoryKind::kPinned);
  CHECK(rig.events()[1].event.level_bytes == 1064);
}

TEST_CASE("after a restart the driver's memory has no level") {
  CaptureRig rig({.is_resumed = true});
  rig.writer.WriteFact(wire::FactType::kMemoryLevel, 0, wire::MemoryLevelFact{.used_bytes = 1000});
  rig.writer.Write(5, wire::MemoryRecord{.time_ns = 10, .bytes = 64, .memory_kind = 3});
  rig.Finish();
  CHECK(rig.only().event.level_bytes == trace::kNoLevel);
}

TEST_CASE("changes of memory that arrive out of order are added up in the order of their times") {
  CaptureRig rig;
  rig.writer.WriteFact(wire::FactType::kMemoryLevel, 0, wire::MemoryLevelFact{.used_bytes = 1000});
  for (const int64_t time_ns : {30, 10, 20}) {
    rig.writer.Write(5, wire::MemoryRecord{.time_ns = time_ns, .bytes = time_ns, .memory_kind = 3});
  }
  rig.Finish();
  REQUIRE(rig.events().size() == 3);
  CHECK(rig.events()[0].event.level_bytes == 1010);
  CHECK(rig.events()[1].event.level_bytes == 1030);
  CHECK(rig.events()[2].event.level_bytes == 1060);
}

TEST_CASE("the framework's memory has the levels that it says") {
  CaptureRig rig;
  rig.writer.Write(6, wire::FrameworkMemoryRecord{.time_ns = 10,
                                                  .bytes = -512,
                                                  .address = 0xA0,
                                                  .allocated_bytes = 2048,
                                                  .reserved_bytes = 4096,
                                                  .device = 3});
  rig.Drain();
  CHECK(rig.only().lane.kind == LaneKind::kMemoryFramework);
  CHECK(rig.only().lane.gpu_index == 3);
  CHECK(rig.only().name == "free");
  CHECK(rig.only().event.bytes == -512);
  CHECK(rig.only().event.level_bytes == 2048);
  CHECK(rig.only().event.reserved_bytes == 4096);
  CHECK(rig.only().event.thread == 6);
}

TEST_CASE("odd times are kept, made legal and counted") {
  CaptureRig rig;
  rig.writer.Write(7, wire::LaunchRecord{.start_ns = 100, .correlation = 1});
  rig.writer.Write(5, wire::KernelRecord{.start_ns = 90, .duration_ns = -4, .correlation = 1});
  rig.Drain();
  CHECK(rig.only().event.start_ns == 90);
  CHECK(rig.only().event.duration_ns == 0);
  CHECK(rig.only().event.launch_start_ns == 100);
  const auto oddities = Oddities(rig.batch.builder());
  REQUIRE(oddities.size() == 2);
  CHECK(oddities[0].reason() == "kept: starts before its launch call");
  CHECK(oddities[0].count() == 1);
  CHECK(oddities[1].count() == 1);
}

TEST_CASE("a session has the process's GPUs, clocks and notes") {
  CaptureRig rig;
  WriteDevice(rig.writer, 1);
  rig.writer.WriteFact(wire::FactType::kClock, 0,
                       wire::ClockFact{.monotonic_ns = 10, .realtime_ns = 1010});
  rig.writer.WriteText(wire::FactType::kNote, 0, "no framework memory: unknown version");
  rig.Drain();
  nanolane::trace::v1::Session session;
  rig.batch.builder().FillSession(session);
  REQUIRE(session.gpus_size() == 1);
  CHECK(session.gpus(0).index() == 1);
  CHECK(session.gpus(0).name() == "NVIDIA H200");
  CHECK(session.gpus(0).memory_bytes() == 80);
  CHECK(session.clock().unix_offset_ns() == 1000);
  CHECK(session.clock().pairs_size() == 1);
  CHECK(rig.batch.builder().notes() ==
        std::vector<std::string>{"no framework memory: unknown version"});
}

TEST_CASE("losses that the process counted are told by kind and reason") {
  CaptureRig rig;
  rig.ring->header().lost[static_cast<size_t>(wire::LossReason::kCuptiDropped)][1].store(12);
  rig.ring->header().lost[static_cast<size_t>(wire::LossReason::kRingFull)][7].store(3);
  rig.reader.UpdateCounters();
  const auto losses = Losses(rig.reader, rig.batch.builder());
  REQUIRE(losses.size() == 2);
  CHECK(
      losses[0].reason().starts_with("launch calls, whose device work is kept: the ring was full"));
  CHECK(losses[0].count() == 3);
  CHECK(losses[1].kind() == nanolane::trace::v1::EVENT_KIND_MEMCPY);
  CHECK(losses[1].reason() == "CUPTI dropped records");
  CHECK(losses[1].count() == 12);
}

TEST_CASE("a process that names ever new streams loses events, which are counted") {
  CaptureRig rig({}, 64);
  const auto most = static_cast<uint32_t>(LaneTable::kMaxLanes);
  for (uint32_t i = 0; i < most + 10; ++i) rig.writer.Write(5, wire::MemsetRecord{.stream = i});
  rig.Drain();
  CHECK(rig.events().size() == most);
  CHECK(LossOf(rig, "more streams or threads") == 10);
}

TEST_CASE("a process that never repeats an op keeps names, and what was lost is counted") {
  CaptureRig rig({}, 512);
  rig.writer.WriteName(1, "k");
  const auto most = static_cast<uint32_t>(OpTable::kMaxOps);
  for (uint32_t i = 0; i < most + 10; ++i) {
    rig.writer.Write(5, wire::KernelRecord{.name = 1, .grid = {i + 1, 1, 1}});
  }
  rig.Drain();
  REQUIRE(rig.events().size() == most + 10);
  CHECK(rig.events().back().name == "k");
  CHECK(rig.events().back().op.grid[0] == 0);
  CHECK(rig.seen.dictionary().op_count() <= most + 1);
  CHECK(LossOf(rig, "more different operations") == 10);
}

}  // namespace nanolane::collector
