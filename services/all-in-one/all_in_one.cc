#include "services/all-in-one/all_in_one.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::all_in_one {
namespace {

const base::Clock& TheClock() {
  static const base::SystemClock clock;
  return clock;
}

}  // namespace

AllInOne::AllInOne(std::unique_ptr<store::StoreEngine> engine)
    : engine_(std::move(engine)),
      internal_store_service_(*engine_),
      public_store_service_(*engine_) {}

AllInOne::~AllInOne() { Shutdown(std::chrono::milliseconds(500)); }

absl::StatusOr<std::unique_ptr<AllInOne>> AllInOne::Start(const Options& options) {
  RETURN_IF_ERROR(rpc::CheckLoopback(options.listen));
  std::error_code error;
  std::filesystem::create_directories(options.store.store.path, error);
  if (error) {
    return absl::PermissionDeniedError(base::StrCat("cannot make the data folder ",
                                                    options.store.store.path, ": ", error.message(),
                                                    "; name another with --data"));
  }
  ASSIGN_OR_RETURN(auto engine, store::StoreEngine::Start(options.store, TheClock()));
  std::unique_ptr<AllInOne> all(new AllInOne(std::move(engine)));
  ASSIGN_OR_RETURN(all->internal_,
                   rpc::Server::Start({.listen = "", .services = {&all->internal_store_service_}}));
  all->query_service_ = std::make_unique<query::QueryService>(all->internal_->InProcessChannel());
  std::vector<grpc::Service*> services = {&all->public_store_service_, all->query_service_.get()};
  if (options.collector.has_value()) {
    collector::CollectorOptions collector = *options.collector;
    collector.store = all->internal_->InProcessChannel();
    if (collector.spool_folder.empty()) {
      collector.spool_folder = base::StrCat(options.store.store.path, "/spool");
    }
    absl::StatusOr<std::unique_ptr<collector::Collector>> started =
        collector::Collector::Start(collector, TheClock());
    if (started.ok()) {
      all->collector_ = *std::move(started);
      all->collector_service_ = std::make_unique<collector::CollectorService>(*all->collector_);
      services.push_back(all->collector_service_.get());
    } else if (options.collector_may_fail) {
      base::LogWarning("collector",
                       base::StrCat("no collector here: ", started.status().message()));
    } else {
      return started.status();
    }
  }
  ASSIGN_OR_RETURN(all->public_,
                   rpc::Server::Start({.listen = options.listen, .services = services}));
  return all;
}

void AllInOne::Shutdown(std::chrono::milliseconds grace) {
  // From the outside in: what a public call needs ends after it.
  if (public_ != nullptr) public_->Shutdown(grace);
  collector_service_.reset();
  collector_.reset();
  if (internal_ != nullptr) internal_->Shutdown(grace);
}

}  // namespace nanolane::all_in_one
