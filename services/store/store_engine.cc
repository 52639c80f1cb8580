#include "services/store/store_engine.h"

#include "libs/base/status_macros.h"

namespace nanolane::store {

absl::StatusOr<std::unique_ptr<StoreEngine>> StoreEngine::Start(const StoreEngineOptions& options,
                                                                const base::Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<RocksStore> store, RocksStore::Open(options.store, clock));
  return std::unique_ptr<StoreEngine>(new StoreEngine(options, std::move(store), clock));
}

}  // namespace nanolane::store
