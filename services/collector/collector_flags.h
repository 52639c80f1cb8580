// Command-line options of whoever runs a collector. Header only, so that the collector's library
// needs no command-line parser.
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/collector/collector.h"

namespace nanolane::collector {

// Where a collector of this user listens: what libraries look for by themselves, where this user
// may make it, else in the user's own folder for such files.
inline std::string DefaultSocket() {
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  if (geteuid() == 0 || own == nullptr || *own == '\0') return wire::kDefaultSocket;
  return base::StrCat(own, "/nanolane/collector.sock");
}

struct CollectorFlags {
  std::string socket = DefaultSocket();
  std::string spool;  // empty: beside the store's data, as the program says
  uint64_t spool_mb = 4096;
  std::string project = "default";
  std::string captures;

  void AddTo(CLI::App& app) {
    app.add_option("--socket", socket, "Unix socket at which processes register")
        ->capture_default_str();
    app.add_option("--spool", spool, "Folder for events while the store is away");
    app.add_option("--spool-mb", spool_mb, "Most megabytes that the spool may take")
        ->capture_default_str();
    app.add_option("--project", project, "Project of processes that name none")
        ->capture_default_str();
    app.add_option("--captures", captures,
                   "JSON file of captures to take of processes as they register");
  }

  // Without the store's channel.
  absl::StatusOr<CollectorOptions> Options() const {
    CollectorOptions options;
    options.socket = socket;
    options.spool_folder = spool;
    options.spool_bytes = spool_mb << 20;
    options.project = project;
    if (!captures.empty()) {
      ASSIGN_OR_RETURN(options.static_captures, ReadStaticCaptures(captures));
    }
    return options;
  }
};

}  // namespace nanolane::collector
