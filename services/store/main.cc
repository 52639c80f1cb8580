// nanolane-store: the store as a process of its own.
#include <CLI/CLI.hpp>
#include <iostream>

#include "libs/base/clock.h"
#include "libs/base/log.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/server.h"
#include "libs/rpc/signals.h"
#include "services/store/committer.h"
#include "services/store/rocks_store.h"
#include "services/store/store_service.h"

namespace {

absl::Status Serve(const std::string& data, const std::string& listen) {
  nanolane::rpc::StopSignal stop;
  const nanolane::base::SystemClock clock;
  auto store = nanolane::store::RocksStore::Open(data, clock);
  if (!store.ok()) return store.status();
  nanolane::store::Committer committer(**store);
  nanolane::store::StoreService service(**store, committer);
  auto server = nanolane::rpc::Server::Start({.listen = listen, .services = {&service}});
  if (!server.ok()) return server.status();
  std::cout << "listening on " << (*server)->address() << std::endl;
  nanolane::base::LogInfo(
      "store", nanolane::base::StrCat("serving data=", data, " listen=", (*server)->address()));
  stop.Wait();
  (*server)->Shutdown(std::chrono::seconds(5));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Stores Nanolane sessions and serves them to the query service.");
  std::string data;
  std::string listen = "127.0.0.1:7071";
  app.add_option("--data", data, "Folder of the store; made if it is not there")->required();
  app.add_option("--listen", listen, "Loopback HOST:PORT (port 0: any free one) or unix:/path")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Serve(data, listen);
  if (status.ok()) return 0;
  std::cerr << "nanolane-store: " << status.message() << "\n";
  return 1;
}
