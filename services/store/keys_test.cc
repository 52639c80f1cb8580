#include "services/store/keys.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <tuple>

#include "services/store/epoch_record.h"

namespace nanolane::store {
namespace {

constexpr const char* kSession = "00112233445566778899aabbccddeeff";

TEST_CASE("block keys sort by lane, then start, then writer") {
  std::mt19937_64 random(1);
  const std::string session = SessionKey(kSession);
  const auto pick = [&] {
    constexpr int64_t kStarts[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1, 1'000,
                                   std::numeric_limits<int64_t>::max()};
    return BlockKey{.lane_id = static_cast<uint32_t>(random() % 3),
                    .start_ns = kStarts[random() % 6],
                    .epoch = random() % 2,
                    .sequence = random() % 300,
                    .index = static_cast<uint32_t>(random() % 3)};
  };
  const auto order = [](const BlockKey& key) {
    return std::make_tuple(key.lane_id, key.start_ns, key.epoch, key.sequence, key.index);
  };
  for (int i = 0; i < 2'000; ++i) {
    const BlockKey a = pick();
    const BlockKey b = pick();
    CHECK((BlockKeyBytes(session, a) < BlockKeyBytes(session, b)) == (order(a) < order(b)));
    CHECK(order(ParseBlockKey(BlockKeyBytes(session, a))) == order(a));
  }
}

TEST_CASE("newer sessions come first by time key") {
  const std::string session = SessionKey(kSession);
  CHECK(TimeKey(2, session) < TimeKey(1, session));
  CHECK(TimeKey(0, session) < TimeKey(-1, session));
  CHECK(SessionIdOf(SessionKeyOfTimeKey(TimeKey(7, session))) == kSession);
}

TEST_CASE("a prefix ends before the next one") {
  CHECK(PrefixEnd("ab") == "ac");
  CHECK(PrefixEnd(std::string("a\xFF\xFF", 3)) == "b");
  CHECK(PrefixEnd("\xFF").empty());
}

TEST_CASE("an epoch record comes back as it was, and a cut one is refused") {
  EpochState epoch;
  epoch.sequence = 77;
  epoch.dictionary = {.strings = 1, .frames = 2, .stacks = 3, .ops = 4};
  epoch.lanes = {{5, 1}, {6, 2}};
  const std::string record = EpochRecord(epoch);
  const auto parsed = ParseEpochRecord(record);
  REQUIRE(parsed.ok());
  CHECK(parsed->sequence == 77);
  CHECK(parsed->dictionary == epoch.dictionary);
  CHECK(parsed->lanes == epoch.lanes);
  CHECK_FALSE(ParseEpochRecord(std::string_view(record).substr(0, record.size() - 3)).ok());
  CHECK_FALSE(ParseEpochRecord("").ok());
}

}  // namespace
}  // namespace nanolane::store
