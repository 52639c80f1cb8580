// What a model holds, whatever the order in which it came: to compare models that were loaded in
// different ways.
#pragma once

#include <string>
#include <vector>

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

// A line for the session, for each lane with its pixel columns at several zooms, and for each event
// with all that the viewer can say of it. Equal models have equal digests.
std::vector<std::string> DigestOf(const TimelineModel& model);

}  // namespace nanolane::desktop
