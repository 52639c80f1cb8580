// nanolane-store: the store as a process of its own.
#include <CLI/CLI.hpp>
#include <iostream>

#include "libs/base/clock.h"
#include "libs/base/log.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/server.h"
#include "libs/rpc/signals.h"
#include "services/store/store_engine.h"
#include "services/store/store_flags.h"
#include "services/store/store_service.h"

namespace {

absl::Status Serve(const nanolane::store::StoreEngineOptions& options, const std::string& listen) {
  nanolane::rpc::StopSignal stop;
  const nanolane::base::SystemClock clock;
  auto engine = nanolane::store::StoreEngine::Start(options, clock);
  if (!engine.ok()) return engine.status();
  nanolane::store::StoreService service(**engine);
  auto server = nanolane::rpc::Server::Start({.listen = listen, .services = {&service}});
  if (!server.ok()) return server.status();
  std::cout << "listening on " << (*server)->address() << std::endl;
  nanolane::base::LogInfo("store", nanolane::base::StrCat("serving data=", options.store.path,
                                                          " listen=", (*server)->address()));
  stop.Wait();
  (*server)->Shutdown(std::chrono::seconds(5));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Stores Nanolane sessions and serves them to the query service.");
  nanolane::store::StoreFlags flags;
  std::string listen = "127.0.0.1:7071";
  app.add_option("--data", flags.data, "Folder of the store; made if it is not there")->required();
  app.add_option("--listen", listen, "Loopback HOST:PORT (port 0: any free one) or unix:/path")
      ->capture_default_str();
  flags.AddTo(app);
  CLI11_PARSE(app, argc, argv);
  const auto options = flags.Options();
  const absl::Status status = options.ok() ? Serve(*options, listen) : options.status();
  if (status.ok()) return 0;
  std::cerr << "nanolane-store: " << status.message() << "\n";
  return 1;
}
