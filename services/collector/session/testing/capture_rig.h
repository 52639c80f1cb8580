// A capture in one process, for tests: a ring, its writer, and a batch whose appends are decoded
// back into events with their lanes and ops.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"
#include "services/collector/ring/testing/ring_writer.h"
#include "services/collector/session/batch.h"

namespace nanolane::collector {

struct SeenEvent {
  trace::Lane lane;
  trace::Op op;
  std::string name;
  trace::Event event;
};

// What a store would hold of one epoch.
class SeenEvents {
 public:
  void Add(const ingest::BlockBuilder::Appends& appends) {
    for (const auto& append : appends) {
      REQUIRE(dictionary_.Apply(trace::FromProto(append.dictionary())).ok());
      for (const std::string& block : append.blocks()) Decode(block);
    }
  }

  const std::vector<SeenEvent>& events() const { return events_; }
  const trace::Dictionary& dictionary() const { return dictionary_; }

 private:
  void Decode(const std::string& block) {
    const auto header = trace::ReadBlockHeader(block);
    REQUIRE(header.ok());
    trace::EventColumns columns;
    REQUIRE(trace::DecodeBlock(block, trace::ColumnSet::All(), columns).ok());
    const trace::Lane* const lane = dictionary_.LaneOf(header->lane);
    REQUIRE(lane != nullptr);
    for (size_t i = 0; i < columns.size(); ++i) {
      const trace::Event event = columns.At(i);
      events_.push_back({*lane, dictionary_.OpOf(event.op), dictionary_.OpName(event.op), event});
    }
  }

  trace::Dictionary dictionary_;
  std::vector<SeenEvent> events_;
};

struct CaptureRig {
  explicit CaptureRig(const BuilderOptions& options = {}, uint32_t pages = 64)
      : ring(*RingMemory::Create({.page_count = pages, .facts_bytes = 1 << 20})),
        writer(*ring),
        reader(*ring),
        batch(reader, options) {}

  // Reads everything that is there at `now_ns` and stores it.
  void Drain(int64_t now_ns = 0) {
    while (*batch.Fill(now_ns)) Store();
    Store();
  }
  // Ends the capture.
  void Finish() {
    writer.Stop();
    Drain();
    REQUIRE(reader.Finished());
    REQUIRE(batch.Finish().ok());
    Store();
  }
  void Store() {
    if (batch.empty()) return;
    const auto appends = batch.Cut();
    REQUIRE(appends.ok());
    sequence += appends->size();
    batch.MarkAll(sequence);
    seen.Add(*appends);
    reader.SetSafe(sequence);
  }
  const std::vector<SeenEvent>& events() const { return seen.events(); }
  const SeenEvent& only() const {
    REQUIRE(events().size() == 1);
    return events()[0];
  }
  std::string Attribute(const SeenEvent& event, const std::string& key) const {
    std::string all;
    for (const auto& [name, value] : event.op.attributes) {
      if (seen.dictionary().String(name) == key) all += seen.dictionary().String(value) + ";";
    }
    return all;
  }

  std::unique_ptr<RingMemory> ring;
  RingWriter writer;
  RingReader reader;
  Batch batch;
  SeenEvents seen;
  uint64_t sequence = 0;
};

}  // namespace nanolane::collector
