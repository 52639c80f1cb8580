// nanolane up: every service in one process.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "clients/cli/commands/commands.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/signals.h"
#include "services/all-in-one/all_in_one.h"
#include "services/all-in-one/flags.h"

namespace nanolane::cli {
namespace {

std::string DefaultData() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0') {
    return base::StrCat(data, "/nanolane");
  }
  const char* home = std::getenv("HOME");
  return base::StrCat(home == nullptr ? "." : home, "/.local/share/nanolane");
}

// Written beside and renamed, so that who waits for the file never reads half of it.
absl::Status WriteAddress(const std::string& path, const std::string& address) {
  const std::string beside = path + ".new";
  std::ofstream(beside) << address << "\n";
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(base::StrCat("cannot write ", path, ": ", error.message()));
}

class Up final : public Command {
 public:
  explicit Up(CLI::App& command) : command_(&command) {
    flags_.data = DefaultData();
    command.add_option("--data", flags_.data, "Folder of the store; made if it is not there")
        ->capture_default_str();
    flags_.AddTo(command);
    collector_flags_.AddTo(command);
    command.add_flag("--no-collector", no_collector_, "Start no collector");
    command
        .add_option("--listen", listen_, "Loopback HOST:PORT (port 0: any free one) or unix:/path")
        ->capture_default_str();
    command.add_option("--address-file", address_file_,
                       "File to write the address to once the server answers");
  }

  absl::Status Run(const GlobalOptions& /*options*/) override {
    const rpc::StopSignal stop;
    all_in_one::Options options{.store = {}, .listen = listen_, .collector = std::nullopt};
    ASSIGN_OR_RETURN(options.store, flags_.Options());
    if (!no_collector_) {
      ASSIGN_OR_RETURN(options.collector, collector_flags_.Options());
      // A second server on a machine, or a user without the rights, has a store all the same.
      options.collector_may_fail = command_->count("--socket") == 0;
    }
    ASSIGN_OR_RETURN(const auto all, all_in_one::AllInOne::Start(options));
    std::cout << "Nanolane is up at " << all->address() << ", data in " << flags_.data;
    if (!all->collector_socket().empty()) {
      std::cout << ", processes register at " << all->collector_socket();
    }
    std::cout << ". Ctrl+C ends it." << std::endl;
    if (!address_file_.empty()) RETURN_IF_ERROR(WriteAddress(address_file_, all->address()));
    stop.Wait();
    all->Shutdown(std::chrono::seconds(5));
    return absl::OkStatus();
  }

 private:
  all_in_one::StoreFlags flags_;
  all_in_one::CollectorFlags collector_flags_;
  bool no_collector_ = false;
  const CLI::App* command_ = nullptr;
  std::string listen_ = kDefaultAddress;
  std::string address_file_;
};

}  // namespace

std::unique_ptr<Command> AddUp(CLI::App& command) { return std::make_unique<Up>(command); }

}  // namespace nanolane::cli
