// What every command knows: where the server is and how to print.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/status.h"

namespace nanolane::cli {

inline constexpr const char* kDefaultAddress = "127.0.0.1:7070";

struct GlobalOptions {
  std::string server = kDefaultAddress;
  std::string format = "table";  // or "json"

  bool json() const { return format == "json"; }
};

// Adds --server and --format to a command, so that they can stand behind it.
void AddGlobalOptions(CLI::App& command, GlobalOptions& options);

// A command of the program: its options are set when Run is called.
class Command {
 public:
  virtual ~Command() = default;
  virtual absl::Status Run(const GlobalOptions& options) = 0;
};

}  // namespace nanolane::cli
