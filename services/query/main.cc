// nanolane-query: the query service as a process of its own.
#include <CLI/CLI.hpp>
#include <iostream>

#include "libs/base/log.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/server.h"
#include "libs/rpc/signals.h"
#include "services/query/query_service.h"

namespace {

absl::Status Serve(const std::string& store, const std::string& listen) {
  nanolane::rpc::StopSignal stop;
  auto channel = nanolane::rpc::Connect(store);
  if (!channel.ok()) return channel.status();
  nanolane::query::QueryService service(*channel);
  auto server = nanolane::rpc::Server::Start({.listen = listen, .services = {&service}});
  if (!server.ok()) return server.status();
  std::cout << "listening on " << (*server)->address() << std::endl;
  nanolane::base::LogInfo(
      "query", nanolane::base::StrCat("serving store=", store, " listen=", (*server)->address()));
  stop.Wait();
  (*server)->Shutdown(std::chrono::seconds(5));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Answers questions about Nanolane sessions from a store.");
  std::string store = "127.0.0.1:7071";
  std::string listen = "127.0.0.1:7070";
  app.add_option("--store", store, "Address of nanolane-store")->capture_default_str();
  app.add_option("--listen", listen, "Loopback HOST:PORT (port 0: any free one) or unix:/path")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Serve(store, listen);
  if (status.ok()) return 0;
  std::cerr << "nanolane-query: " << status.message() << "\n";
  return 1;
}
