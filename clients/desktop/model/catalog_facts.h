// What the viewer knows of the sessions that a server has, and of where their data lies: the
// answers that the catalog hands over. No protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "clients/desktop/model/density_strip.h"
#include "clients/desktop/model/session_facts.h"
#include "libs/timeline/columns.h"

namespace nanolane::desktop {

struct CatalogSnapshot {
  uint64_t version = 0;  // of the list; 0: not heard of yet
  std::vector<SessionFacts> sessions;
  absl::Status failure;  // of the last attempt; the list is then an older one
};

// Where the data of these sessions lies.
struct DensityQuestion {
  std::vector<std::string> session_ids;
  timeline::Window window;  // Unix time
  uint32_t bins = 0;        // at most
  uint64_t events = 0;      // what the sessions are known to have: grown ones are asked for anew

  bool operator==(const DensityQuestion& other) const {
    return window.start_ns == other.window.start_ns && window.end_ns == other.window.end_ns &&
           bins == other.bins && events == other.events && session_ids == other.session_ids;
  }
};

struct DensityAnswer {
  DensityQuestion question;
  std::vector<DensityLayer> layers;
};

}  // namespace nanolane::desktop
