// A live capture whose store, collector and processes are killed again and again: what was
// acknowledged is kept, nothing hangs, nothing is stored twice, and what is missing is counted.
//
// A round is seeded: what the programs do, what is killed or stopped, in which order and after how
// long. Processes race nevertheless, so that a seed does not repeat a failure for sure; it repeats
// the circumstances. Environment: NANOLANE_LIVE_KILL_ROUNDS (how many further rounds) and
// NANOLANE_LIVE_KILL_SEED (of the first of them).
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "libs/base/str_cat.h"
#include "tests/live_kill/live_round.h"

namespace nanolane::testing {
namespace {

void RunRounds(uint64_t first, uint64_t count) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto begin = std::chrono::steady_clock::now();
    std::cout << "round " << seed << ": " << std::flush;
    LiveRound round(seed);
    const std::vector<std::string> problems = round.Run();
    const LiveTally& tally = round.tally();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    std::cout << (problems.empty() ? "clean" : "FAILED") << " in " << took.count() << " ms ("
              << tally.times << "), kills of "
              << "stores " << tally.store_kills << ", collectors " << tally.collector_kills
              << ", programs " << tally.program_kills << ", stops " << tally.stops << "; "
              << tally.sessions << " sessions, " << tally.adopted << " taken over, "
              << tally.expected << " events expected, " << tally.stored << " stored, "
              << tally.missing << " missing, " << tally.unlaunched << " without launch, "
              << tally.safe << " said to be safe" << std::endl;
    std::string text =
        base::StrCat("seed ", seed, " (repeat it with NANOLANE_LIVE_KILL_SEED=", seed,
                     " NANOLANE_LIVE_KILL_ROUNDS=1):");
    for (const std::string& problem : problems) text += "\n  " + problem;
    INFO(text);
    CHECK(problems.empty());
  }
}

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_CASE("a capture whose store, collector and process are killed loses nothing uncounted") {
  RunRounds(1, 3);
}

TEST_CASE("further rounds of kills in a live capture") {
  const uint64_t rounds = FromEnvironment("NANOLANE_LIVE_KILL_ROUNDS", 0);
  if (rounds == 0)
    std::cout << "SKIPPED: NANOLANE_LIVE_KILL_ROUNDS says how many (tools/test --long)\n";
  RunRounds(FromEnvironment("NANOLANE_LIVE_KILL_SEED", 4), rounds);
}

}  // namespace
}  // namespace nanolane::testing
