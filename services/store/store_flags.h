// Command-line options of whoever serves a store: limits and retention. Header only, so that the
// store's library needs no command-line parser.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/store_engine.h"

namespace nanolane::store {

struct StoreFlags {
  std::string data;
  std::string max_size;
  std::string retention;
  std::vector<std::string> project_retention;
  SealOptions seal;

  // All but the folder, which has other names in other programs.
  void AddTo(CLI::App& app) {
    app.add_option("--max-size", max_size,
                   "Refuse appends beyond this size of all sessions, such as 500GB");
    app.add_option("--retention", retention,
                   "Delete sessions beyond an age or size, as in age=7d,bytes=100GB");
    app.add_option("--project-retention", project_retention,
                   "The same for one project, as in PROJECT:age=1d; may be repeated");
    AddSealing(app);
  }

  // Hidden from help: switches for tests that crash the store, which want sealing and trimming to
  // happen all the time. Nobody else needs them; they may change with any version.
  void AddSealing(CLI::App& app) {
    const auto add = [&app](const char* name, auto& value) {
      app.add_option(name, value)->group("");
    };
    add("--test-seal-run-events", seal.run_events);
    add("--test-seal-live-lane-events", seal.live_lane_events);
    add("--test-seal-block-events", seal.block_events);
    add("--test-seal-reorder-ns", seal.reorder_ns);
    add("--test-seal-keep-log-ns", seal.keep_log_ns);
  }

  // INVALID_ARGUMENT for what cannot be read.
  absl::StatusOr<StoreEngineOptions> Options() const {
    StoreEngineOptions options;
    options.store.path = data;
    options.store.seal = seal;
    if (!max_size.empty()) {
      ASSIGN_OR_RETURN(options.store.max_bytes, ParseBytes(max_size));
    }
    if (!retention.empty()) {
      ASSIGN_OR_RETURN(options.retention.all, ParseRetention(retention));
    }
    for (const std::string& text : project_retention) {
      const size_t colon = text.rfind(':');
      if (colon == std::string::npos || colon == 0) {
        return absl::InvalidArgumentError(
            base::StrCat("bad --project-retention \"", text, "\": write PROJECT:age=1d"));
      }
      ASSIGN_OR_RETURN(options.retention.projects[text.substr(0, colon)],
                       ParseRetention(text.substr(colon + 1)));
    }
    return options;
  }
};

}  // namespace nanolane::store
