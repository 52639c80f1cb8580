// Every service in one process, behind one address: what `nanolane up` and the demo run.
//
// The query service reaches the store through an in-process channel, by the same proto as across
// machines. Thread-safe after Start().
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "libs/base/clock.h"
#include "libs/rpc/server.h"
#include "services/collector/collector.h"
#include "services/collector/collector_service.h"
#include "services/query/query_service.h"
#include "services/store/store_engine.h"
#include "services/store/store_service.h"

namespace nanolane::all_in_one {

struct Options {
  store::StoreEngineOptions store;  // its folder is made if it is not there
  std::string listen;               // as rpc::ServerOptions
  // Without a store's channel and with any spool folder, which is put beside the store's data when
  // it is empty; nothing: no collector.
  std::optional<collector::CollectorOptions> collector;
  // Goes on without a collector where it cannot start, and logs why.
  bool collector_may_fail = false;
};

class AllInOne {
 public:
  static absl::StatusOr<std::unique_ptr<AllInOne>> Start(const Options& options);
  ~AllInOne();

  const std::string& address() const { return public_->address(); }
  store::StoreEngine& engine() { return *engine_; }
  // Where processes register; empty: there is no collector.
  std::string collector_socket() const { return collector_ ? collector_->socket() : ""; }
  void Shutdown(std::chrono::milliseconds grace);

 private:
  explicit AllInOne(std::unique_ptr<store::StoreEngine> engine);

  // In order of dependence: destroyed from the last to the first.
  std::unique_ptr<store::StoreEngine> engine_;
  store::StoreService internal_store_service_;
  store::StoreService public_store_service_;
  std::unique_ptr<rpc::Server> internal_;  // the store, for the query service and the collector
  std::unique_ptr<query::QueryService> query_service_;
  std::unique_ptr<collector::Collector> collector_;
  std::unique_ptr<collector::CollectorService> collector_service_;
  std::unique_ptr<rpc::Server> public_;
};

}  // namespace nanolane::all_in_one
