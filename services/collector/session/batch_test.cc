#include "services/collector/session/batch.h"

#include "catch2/catch.hpp"
#include "services/collector/session/testing/capture_rig.h"

namespace nanolane::collector {

TEST_CASE("a batch ends at its bound and the next one goes on") {
  CaptureRig rig({}, 128);
  const size_t count = Batch::kMaxRecords + 100;
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(rig.writer.Write(1, wire::NvtxRecord{.start_ns = static_cast<int64_t>(i)}));
  }
  CHECK(*rig.batch.Fill(0));
  CHECK(rig.batch.events() == Batch::kMaxRecords);
  CHECK(*rig.batch.Fill(0));  // full
  CHECK(rig.batch.events() == Batch::kMaxRecords);
  rig.Store();
  CHECK_FALSE(*rig.batch.Fill(0));
  CHECK(rig.batch.events() == 100);
  rig.Store();
  CHECK(rig.events().size() == count);
  CHECK(rig.batch.builder().counts().events[static_cast<size_t>(trace::EventKind::kNvtx)] == count);
}

TEST_CASE("all events of a batch are in its last append") {
  CaptureRig rig;
  for (uint32_t name = 1; name <= 20; ++name) {
    rig.writer.WriteName(name, std::string(30'000, static_cast<char>('a' + name)));
    rig.writer.Write(1, wire::NvtxRecord{.start_ns = name, .name = name, .thread = name});
  }
  REQUIRE(rig.batch.Fill(0).ok());
  const auto appends = rig.batch.Cut();
  REQUIRE(appends.ok());
  for (size_t i = 0; i + 1 < appends->size(); ++i) CHECK((*appends)[i].blocks_size() == 0);
  CHECK(appends->back().blocks_size() == 20);
}

TEST_CASE("an event of which every byte is new fits into its batch's append") {
  CaptureRig rig({}, 128);
  uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state ^ state >> 29;
  };
  for (size_t i = 0; i < Batch::kMaxRecords; ++i) {
    REQUIRE(rig.writer.Write(1, wire::MemcpyRecord{.start_ns = static_cast<int64_t>(next()),
                                                   .duration_ns = static_cast<int64_t>(next()),
                                                   .bytes = next(),
                                                   .graph_node = next()}));
  }
  REQUIRE(rig.batch.Fill(0).ok());
  CHECK(rig.batch.Cut().ok());
}

TEST_CASE("a page is given back after its batch is safe, by the next one") {
  CaptureRig rig({}, 8);
  rig.writer.Write(1, wire::NvtxRecord{});
  rig.writer.CloseAll();
  REQUIRE(rig.batch.Fill(0).ok());
  const auto appends = rig.batch.Cut();
  rig.batch.MarkAll(4);
  rig.reader.SetSafe(3);
  REQUIRE(rig.batch.Fill(0).ok());
  CHECK(rig.writer.FreePages() == 7);
  rig.reader.SetSafe(4);
  REQUIRE(rig.batch.Fill(0).ok());
  CHECK(rig.writer.FreePages() == 8);
}

TEST_CASE("a record that becomes no event does not hold its page") {
  CaptureRig rig({}, 128);
  const auto most = static_cast<uint32_t>(LaneTable::kMaxLanes);
  for (uint32_t i = 0; i < most; ++i) rig.writer.Write(5, wire::MemsetRecord{.stream = i});
  rig.writer.CloseAll();
  rig.Drain();
  rig.Drain();
  rig.writer.Write(5, wire::MemsetRecord{.stream = most});
  rig.writer.CloseAll();
  rig.Drain();
  CHECK(rig.batch.empty());
  rig.Drain();
  CHECK(rig.writer.FreePages() == 128);
}

}  // namespace nanolane::collector
