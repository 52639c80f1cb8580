// nanolane-collector: the agent of a node as a process of its own.
#include <CLI/CLI.hpp>
#include <iostream>

#include "libs/base/clock.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/server.h"
#include "libs/rpc/signals.h"
#include "services/collector/collector.h"
#include "services/collector/collector_flags.h"
#include "services/collector/collector_service.h"

namespace {

absl::Status Serve(const nanolane::collector::CollectorFlags& flags, const std::string& store,
                   const std::string& listen) {
  const nanolane::rpc::StopSignal stop;
  const nanolane::base::SystemClock clock;
  ASSIGN_OR_RETURN(nanolane::collector::CollectorOptions options, flags.Options());
  // The store need not be there yet: what is captured waits in the spool.
  options.store = nanolane::rpc::OpenChannel(store);
  ASSIGN_OR_RETURN(const auto collector, nanolane::collector::Collector::Start(options, clock));
  nanolane::collector::CollectorService service(*collector);
  ASSIGN_OR_RETURN(const auto server,
                   nanolane::rpc::Server::Start({.listen = listen, .services = {&service}}));
  std::cout << "listening on " << server->address() << std::endl;
  nanolane::base::LogInfo(
      "collector", nanolane::base::StrCat("serving socket=", collector->socket(), " store=", store,
                                          " listen=", server->address()));
  stop.Wait();
  server->Shutdown(std::chrono::seconds(5));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Captures what GPUs do in the processes of this machine, into a Nanolane store.");
  nanolane::collector::CollectorFlags flags;
  flags.spool = "/var/lib/nanolane/spool";
  std::string store = "127.0.0.1:7071";
  std::string listen = "127.0.0.1:7072";
  app.add_option("--store", store, "HOST:PORT of the store")->capture_default_str();
  app.add_option("--listen", listen, "Loopback HOST:PORT (port 0: any free one) or unix:/path")
      ->capture_default_str();
  flags.AddTo(app);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Serve(flags, store, listen);
  if (status.ok()) return 0;
  std::cerr << "nanolane-collector: " << status.message() << "\n";
  return 1;
}
