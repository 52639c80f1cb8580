#include "clients/desktop/testing/session_builder.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/facts_from_proto.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/op_family.h"
#include "libs/trace/wire.h"

namespace nanolane::desktop {
namespace {

using query::v1::StreamTimelineResponse;

constexpr uint64_t kEpoch = 1;

struct Extent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

Extent ExtentOf(const trace::EventColumns& events) {
  Extent extent;
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t start = events.start_ns[i];
    const int64_t end = start + std::max<int64_t>(events.duration_ns[i], 0);
    extent.start_ns = i == 0 ? start : std::min(extent.start_ns, start);
    extent.end_ns = i == 0 ? end : std::max(extent.end_ns, end);
  }
  return extent;
}

}  // namespace

SessionBuilder::SessionBuilder(std::string session_id) {
  session_.set_session_id(std::move(session_id));
  session_.set_project("tests");
  session_.set_host("host-1");
  session_.set_executable("/usr/bin/python3");
  session_.set_pid(4121);
  session_.set_ended(true);
}

trace::LaneId SessionBuilder::AddLane(const trace::Lane& lane) {
  const trace::LaneId id = dictionary_.Intern(lane);
  lanes_[id];
  return id;
}

trace::OpId SessionBuilder::AddKernel(const std::string& name) {
  trace::Op op{.kind = trace::EventKind::kKernel,
               .family = trace::FamilyOf(name),
               .name = dictionary_.Intern(name)};
  op.grid = {32, 96, 1};
  op.block = {128, 1, 1};
  op.registers_per_thread = 122;
  op.dynamic_shared_bytes = 24'576;
  return dictionary_.Intern(op);
}

trace::OpId SessionBuilder::AddOp(trace::EventKind kind, const std::string& name) {
  return dictionary_.Intern(trace::Op{.kind = kind, .name = dictionary_.Intern(name)});
}

size_t SessionBuilder::events() const {
  size_t count = 0;
  for (const auto& [id, events] : lanes_) count += events.size();
  return count;
}

void SessionBuilder::KeepEvents(
    const std::function<bool(const trace::EventColumns&, size_t)>& keep) {
  for (auto& [id, events] : lanes_) {
    trace::EventColumns kept;
    for (size_t i = 0; i < events.size(); ++i) {
      if (keep(events, i)) kept.Add(events.At(i));
    }
    events = std::move(kept);
  }
}

trace::v1::SessionSummary SessionBuilder::Summary() const {
  trace::v1::SessionSummary summary;
  *summary.mutable_session() = session_;
  summary.set_events(events());
  bool first = true;
  for (const auto& [id, events] : lanes_) {
    if (events.empty()) continue;
    const Extent extent = ExtentOf(events);
    summary.set_start_ns(first ? extent.start_ns : std::min(summary.start_ns(), extent.start_ns));
    summary.set_end_ns(first ? extent.end_ns : std::max(summary.end_ns(), extent.end_ns));
    first = false;
  }
  return summary;
}

query::v1::LaneInfo SessionBuilder::InfoOf(trace::LaneId id,
                                           const trace::EventColumns& events) const {
  query::v1::LaneInfo info;
  const trace::Lane& lane = *dictionary_.tables().LaneOf(id);
  const Extent extent = ExtentOf(events);
  info.set_session_id(session_.session_id());
  info.set_lane_id(id);
  trace::ToProto(lane, *info.mutable_lane());
  info.set_label(trace::LaneLabel(lane));
  info.set_events(events.size());
  info.set_start_ns(extent.start_ns);
  info.set_end_ns(extent.end_ns);
  return info;
}

std::vector<StreamTimelineResponse> SessionBuilder::Messages(size_t block_events) const {
  std::vector<StreamTimelineResponse> messages(2);
  query::v1::TimelineHeader& header = *messages[0].mutable_header();
  *header.add_sessions() = Summary();
  header.set_expected_events(events());
  for (const auto& [id, events] : lanes_) {
    *header.add_lanes() = InfoOf(id, events);
  }
  messages[1].mutable_dictionary()->set_epoch(kEpoch);
  trace::DictionaryBuilder copy = dictionary_;
  const trace::DictionaryDelta whole = copy.TakeDelta();
  trace::ToProto(whole, *messages[1].mutable_dictionary()->mutable_delta());
  // A store sends a reader no more of the dictionary than the blocks need.
  const trace::DictionaryNeeds needs{.strings = static_cast<uint32_t>(whole.strings.size()),
                                     .frames = static_cast<uint32_t>(whole.frames.size())};
  uint64_t sent = 0;
  for (const auto& [id, events] : lanes_) {
    for (size_t at = 0; at < events.size(); at += block_events) {
      const size_t count = std::min(block_events, events.size() - at);
      trace::EventColumns part;
      for (size_t i = at; i < at + count; ++i) part.Add(events.At(i));
      StreamTimelineResponse& message = messages.emplace_back();
      query::v1::Block& block = *message.mutable_blocks()->add_blocks();
      block.set_lane_id(id);
      block.set_epoch(kEpoch);
      block.set_data(*trace::EncodeBlock(part, {.lane = id, .needs = needs}));
      sent += count;
      message.set_sent_events(sent);
    }
  }
  messages.emplace_back().mutable_end();
  messages.back().set_sent_events(sent);
  return messages;
}

std::vector<LoaderMessage> LoaderMessages(const SessionBuilder& builder, size_t block_events) {
  std::vector<LoaderMessage> messages;
  for (const StreamTimelineResponse& response : builder.Messages(block_events)) {
    if (response.has_header()) messages.push_back(FactsOf(response.header()));
    if (response.has_dictionary()) {
      messages.push_back(DictionaryEntries{0, response.dictionary().epoch(),
                                           trace::FromProto(response.dictionary().delta())});
    }
    for (const query::v1::Block& block : response.blocks().blocks()) {
      BlockArrived arrived{.lane = block.lane_id(), .epoch = block.epoch(), .packed = block.data()};
      const absl::Status decoded =
          trace::DecodeBlock(arrived.packed, trace::ColumnSet::All(), arrived.columns);
      if (decoded.ok()) messages.push_back(std::move(arrived));
    }
    if (response.has_end()) messages.push_back(StreamEnded{});
  }
  return messages;
}

SessionBuilder SmallSession() {
  SessionBuilder builder;
  auto& gpu = *builder.session().add_gpus();
  gpu.set_index(0);
  gpu.set_name("NVIDIA H200");
  using trace::LaneKind;
  const auto lane = [&builder](LaneKind kind, int64_t stream) {
    return builder.AddLane({.kind = kind, .gpu_index = 0, .context = 1, .stream = stream});
  };
  const trace::LaneId compute = lane(LaneKind::kStream, 7);
  const trace::LaneId copies = lane(LaneKind::kStream, 14);
  const trace::LaneId waits = lane(LaneKind::kStreamSync, 7);
  const trace::LaneId ranges = builder.AddLane({.kind = LaneKind::kNvtxThread, .thread = 4121});
  const trace::LaneId memory = lane(LaneKind::kMemoryFramework, -1);
  const trace::OpId gemm = builder.AddKernel("ampere_sgemm_128x64_tn");
  const trace::OpId norm = builder.AddKernel("void at::native::layer_norm_kernel<float>(float*)");
  const trace::OpId sync = builder.AddOp(trace::EventKind::kSync, "cudaStreamSynchronize");
  const trace::OpId alloc = builder.AddOp(trace::EventKind::kMemory, "alloc");
  trace::Op copy_op{.kind = trace::EventKind::kMemcpy,
                    .copy_direction = trace::CopyDirection::kHostToDevice,
                    .source_memory = trace::MemoryKind::kPageable,
                    .destination_memory = trace::MemoryKind::kDevice,
                    .name = builder.dictionary().Intern("Memcpy HtoD (Pageable -> Device)")};
  const trace::OpId copy = builder.dictionary().Intern(copy_op);
  int64_t held = 0;
  for (int64_t step = 0; step < 8; ++step) {
    const int64_t base = 1'000'000'000 + step * 10'000'000;
    const trace::OpId range = builder.AddOp(trace::EventKind::kNvtx, absl::StrCat("step ", step));
    const trace::OpId inner = builder.AddOp(trace::EventKind::kNvtx, "forward");
    builder.Add(ranges, {.op = range, .start_ns = base, .duration_ns = 8'000'000, .thread = 4121});
    builder.Add(
        ranges,
        {.op = inner, .start_ns = base + 500'000, .duration_ns = 6'000'000, .thread = 4121});
    builder.Add(copies, {.op = copy, .start_ns = base, .duration_ns = 400'000, .bytes = 1 << 20});
    for (int64_t k = 0; k < 20; ++k) {
      const int64_t start = base + 600'000 + k * 300'000;
      builder.Add(compute, {.op = k % 4 == 3 ? norm : gemm,
                            .start_ns = start,
                            .duration_ns = k % 4 == 3 ? 90'000 : 250'000 + k * 100,
                            .launch_start_ns = start - 8'104,
                            .launch_duration_ns = 3'000,
                            .thread = 4121,
                            .correlation = static_cast<uint64_t>(step * 100 + k + 1)});
    }
    builder.Add(waits,
                {.op = sync, .start_ns = base + 6'600'000, .duration_ns = 200'000, .thread = 4121});
    held += (step % 3 == 2 ? -1 : 1) * (64LL << 20);
    builder.Add(memory, {.op = alloc,
                         .start_ns = base + 100'000,
                         .bytes = 64 << 20,
                         .level_bytes = (4LL << 30) + held,
                         .reserved_bytes = 8LL << 30});
  }
  return builder;
}

SessionBuilder LargeSession(size_t lanes, size_t events) {
  SessionBuilder builder(std::string(32, 'b'));
  std::mt19937_64 random(7);
  std::vector<trace::OpId> ops;
  for (int i = 0; i < 200; ++i) {
    const char* kind = i % 4 == 0   ? "sgemm"
                       : i % 4 == 1 ? "layer_norm"
                       : i % 4 == 2 ? "elementwise"
                                    : "flash_attn";
    ops.push_back(builder.AddKernel(absl::StrCat(kind, "_kernel_", i)));
  }
  for (size_t lane = 0; lane < lanes; ++lane) {
    const trace::LaneId id = builder.AddLane({.kind = trace::LaneKind::kStream,
                                              .gpu_index = 0,
                                              .context = 1,
                                              .stream = static_cast<int64_t>(7 + lane)});
    int64_t at = 0;
    for (size_t i = 0; i < events / lanes; ++i) {
      const uint64_t dice = random();
      const int64_t duration = dice % 50 == 0 ? 0 : static_cast<int64_t>(500 + dice / 64 % 9'000);
      builder.Add(id, {.op = ops[dice / 1'024 % ops.size()],
                       .start_ns = at,
                       .duration_ns = duration,
                       .launch_start_ns = at - 5'000,
                       .launch_duration_ns = 2'000,
                       .thread = 4121,
                       .correlation = i + 1});
      // Some overlap the next one, some leave a gap.
      at += duration + static_cast<int64_t>(dice / 4'096 % 2'000) - (dice % 20 == 1 ? 300 : 0);
    }
  }
  return builder;
}

}  // namespace nanolane::desktop
