#include "libs/ingest/block_builder.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::ingest {
namespace {

using nanolane::store::v1::AppendRequest;

// What a store makes of appends: checks that each can be read with what came until then.
class Reader {
 public:
  void Read(const BlockBuilder::Appends& appends) {
    for (const AppendRequest& append : appends) {
      ++appends_;
      REQUIRE((append.blocks_size() > 0 || append.has_dictionary()));
      REQUIRE(append.ByteSizeLong() <= kMaxAppendBytes + (64 << 10));
      const auto sizes = trace::CheckDelta(trace::FromProto(append.dictionary()), sizes_);
      REQUIRE(sizes.ok());
      sizes_ = *sizes;
      for (const std::string& block : append.blocks()) {
        const auto header = trace::ReadBlockHeader(block);
        REQUIRE(header.ok());
        REQUIRE(sizes_.Cover(header->needs));
        trace::EventColumns events;
        REQUIRE(trace::DecodeBlock(block, trace::ColumnSet::Timeline(), events).ok());
        std::vector<int64_t>& starts = starts_[header->lane];
        starts.insert(starts.end(), events.start_ns.begin(), events.start_ns.end());
      }
    }
  }

  int appends() const { return appends_; }
  const trace::DictionarySizes& sizes() const { return sizes_; }
  const std::map<trace::LaneId, std::vector<int64_t>>& starts() const { return starts_; }

 private:
  int appends_ = 0;
  trace::DictionarySizes sizes_;
  std::map<trace::LaneId, std::vector<int64_t>> starts_;
};

trace::OpId NewOp(BlockBuilder& builder, const std::string& name) {
  trace::DictionaryBuilder& dictionary = builder.dictionary();
  return dictionary.Intern(
      trace::Op{.kind = trace::EventKind::kKernel, .name = dictionary.Intern(name)});
}

TEST_CASE("whenever appends are taken, they hold every event once and what it needs") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    BlockBuilder builder({.block_events = 50, .buffered_events = 120, .append_bytes = 1'000});
    Reader reader;
    std::map<trace::LaneId, std::vector<int64_t>> expected;
    for (int i = 0; i < 3'000; ++i) {
      const auto lane = static_cast<trace::LaneId>(1 + random() % 7);
      const trace::OpId op = NewOp(builder, "op " + std::to_string(random() % (1 + i / 10)));
      REQUIRE(builder.Add(lane, {.op = op, .start_ns = i, .duration_ns = 1}).ok());
      expected[lane].push_back(i);
      CHECK(builder.buffered() < 120);
      const auto step = random() % 200;
      if (step < 50) reader.Read(builder.TakeFull());
      if (step == 51) reader.Read(builder.Take());
      if (step == 52) REQUIRE(builder.CutAll().ok());
    }
    REQUIRE(builder.CutAll().ok());
    CHECK(builder.buffered() == 0);
    reader.Read(builder.Take());
    CHECK(builder.pending_bytes() == 0);
    CHECK(builder.Take().empty());
    CHECK(reader.starts() == expected);
  }
}

TEST_CASE("a dictionary that does not fit beside the blocks goes ahead in appends of its own") {
  BlockBuilder builder({});
  Reader reader;
  trace::OpId op = 0;
  for (int i = 0; i < 20; ++i) op = NewOp(builder, std::to_string(i) + std::string(1'000'000, 'x'));
  REQUIRE(builder.Add(1, {.op = op, .start_ns = 1, .duration_ns = 1}).ok());
  REQUIRE(builder.CutAll().ok());
  CHECK(builder.pending_bytes() > 0);
  const BlockBuilder::Appends appends = builder.Take();
  REQUIRE(appends.size() > 4);
  for (size_t i = 0; i + 1 < appends.size(); ++i) CHECK(appends[i].blocks_size() == 0);
  CHECK(appends.back().blocks_size() == 1);
  reader.Read(appends);
  CHECK(reader.sizes().ops == 20);
}

TEST_CASE("new dictionary entries are taken also where there are no events") {
  BlockBuilder builder({});
  CHECK(builder.Take().empty());
  NewOp(builder, "alone");
  CHECK(builder.TakeFull().empty());
  Reader reader;
  reader.Read(builder.Take());
  CHECK(reader.appends() == 1);
  CHECK(reader.sizes().ops == 1);
}

}  // namespace
}  // namespace nanolane::ingest
