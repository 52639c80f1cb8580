// Sessions whose events carry stacks.
#pragma once

#include <string>
#include <vector>

#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {

// The stack of these functions, outermost first; each "name" is python in name.py:7, "c++ name" is
// C++ without a file. Empty: none.
trace::StackId AddStack(SessionBuilder& builder, const std::vector<std::string>& functions);

// Stream 7 with stacks of up to `depth` frames under three outermost ones that never differ, and
// stream 14 without any; `events` on each, 1 us long, every 2 us.
SessionBuilder StackSession(size_t events, size_t depth);

}  // namespace nanolane::desktop
