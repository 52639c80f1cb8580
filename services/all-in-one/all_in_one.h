// Every service in one process, behind one address: what `nanolane up` and the demo run.
//
// The query service reaches the store through an in-process channel, by the same proto as across
// machines. Thread-safe after Start().
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "libs/base/clock.h"
#include "libs/rpc/server.h"
#include "services/query/query_service.h"
#include "services/store/store_engine.h"
#include "services/store/store_service.h"

namespace nanolane::all_in_one {

struct Options {
  store::StoreEngineOptions store;  // its folder is made if it is not there
  std::string listen;               // as rpc::ServerOptions
};

class AllInOne {
 public:
  static absl::StatusOr<std::unique_ptr<AllInOne>> Start(const Options& options);
  ~AllInOne();

  const std::string& address() const { return public_->address(); }
  store::StoreEngine& engine() { return *engine_; }
  void Shutdown(std::chrono::milliseconds grace);

 private:
  explicit AllInOne(std::unique_ptr<store::StoreEngine> engine);

  // In order of dependence: destroyed from the last to the first.
  std::unique_ptr<store::StoreEngine> engine_;
  store::StoreService internal_store_service_;
  store::StoreService public_store_service_;
  std::unique_ptr<rpc::Server> internal_;  // the store, for the query service
  std::unique_ptr<query::QueryService> query_service_;
  std::unique_ptr<rpc::Server> public_;
};

}  // namespace nanolane::all_in_one
