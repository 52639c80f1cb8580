// Ticks of the time ruler: round steps, and labels that say the exact time of their tick.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libs/timeline/columns.h"

namespace nanolane::desktop {

struct RulerTick {
  int64_t time_ns = 0;
  double x = 0;       // pixels from the window's left edge
  std::string label;  // from the session's start: "208.512 ms", "1:02.5"
};

// The least round step (1, 2 or 5 times a power of ten; of seconds, minutes and hours above) that
// is at least `least_ns`.
int64_t RoundStep(int64_t least_ns);

// Times as ruler labels: the unit fits `window_ns`' magnitude, and there are as many decimals as
// `step_ns` needs, in groups of three.
std::string RulerLabel(int64_t since_start_ns, int64_t greatest_ns, int64_t step_ns);

// Ticks of `window` over `width` pixels, at least `least_gap` pixels apart. Times count from
// `origin_ns`, which carries a tick when it is in sight.
std::vector<RulerTick> RulerTicks(const timeline::Window& window, double width, double least_gap,
                                  int64_t origin_ns);

}  // namespace nanolane::desktop
