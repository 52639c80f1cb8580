// Undo and redo of moves against a plain list of the windows that were seen.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "clients/desktop/model/viewport.h"

namespace nanolane::desktop {
namespace {

bool Same(const Window& a, const Window& b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

// Moves that may have no effect: at the ends, or to where the view is already.
void MoveSomehow(Viewport& viewport, std::mt19937_64& random) {
  const auto number = [&random](int64_t below) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  };
  switch (random() % 4) {
    case 0: viewport.Zoom(random() % 2 == 0 ? 0.5 : 2, 0.3); break;
    case 1: viewport.Pan(static_cast<double>(number(2'000) - 1'000), 1'000); break;
    case 2: viewport.Jump({number(500'000), 500'000 + number(500'000)}); break;
    case 3: viewport.Jump(viewport.target()); break;
  }
}

}  // namespace

TEST_CASE("undo and redo walk through all windows that were seen, whatever is done") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Viewport viewport;
    viewport.SetBounds({0, 1'000'000});
    viewport.Open({0, 1'000'000});
    std::vector<Window> seen = {viewport.target()};
    size_t at = 0;
    int64_t now_ns = 0;
    for (int i = 0; i < 200; ++i) {
      // Each move is a gesture of its own; some are undone while the view still glides.
      now_ns += Viewport::kGesturePauseNs + (random() % 2 == 0 ? 0 : Viewport::kGlideNs);
      viewport.Tick(now_ns);
      const uint64_t dice = random() % 10;
      if (dice < 3) {
        CHECK(viewport.Back() == (at > 0));
        if (at > 0) --at;
      } else if (dice < 5) {
        CHECK(viewport.Forward() == (at + 1 < seen.size()));
        if (at + 1 < seen.size()) ++at;
      } else {
        MoveSomehow(viewport, random);
        if (!Same(viewport.target(), seen[at])) {
          seen.resize(at + 1);
          seen.push_back(viewport.target());
          ++at;
        } else if (!viewport.can_go_forward()) {
          // A gesture without effect forgets what was undone all the same.
          seen.resize(at + 1);
        }
      }
      REQUIRE(Same(viewport.target(), seen[at]));
      now_ns += Viewport::kGlideNs;
      viewport.Tick(now_ns);
      REQUIRE(Same(viewport.shown(), seen[at]));
    }
  }
}

}  // namespace nanolane::desktop
