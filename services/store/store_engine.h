// A RocksDB store with everything that works on it: the committer, the sealer, the hub of
// followers, retention. What a process that serves a store holds one of.
#pragma once

#include <memory>

#include "services/store/committer.h"
#include "services/store/follow_hub.h"
#include "services/store/retention.h"
#include "services/store/rocks_store.h"
#include "services/store/sealer.h"

namespace nanolane::store {

struct StoreEngineOptions {
  RocksStoreOptions store;
  RetentionPolicy retention;
};

class StoreEngine {
 public:
  // Errors as RocksStore::Open. The clock outlives the engine.
  static absl::StatusOr<std::unique_ptr<StoreEngine>> Start(const StoreEngineOptions& options,
                                                            const base::Clock& clock);

  RocksStore& store() { return *store_; }
  Committer& committer() { return committer_; }
  Sealer& sealer() { return sealer_; }
  FollowHub& followers() { return followers_; }

 private:
  StoreEngine(const StoreEngineOptions& options, std::unique_ptr<RocksStore> store,
              const base::Clock& clock)
      : store_(std::move(store)),
        committer_(*store_),
        sealer_(*store_, committer_, options.store.seal),
        followers_(*store_, committer_),
        retention_(*store_, committer_, options.retention, clock) {}

  // In order of dependence: destroyed from the last to the first.
  std::unique_ptr<RocksStore> store_;
  Committer committer_;
  Sealer sealer_;
  FollowHub followers_;
  Retention retention_;
};

}  // namespace nanolane::store
