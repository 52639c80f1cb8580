// Every service in this process over a store in a temporary folder, with a client's stubs.
#pragma once

#include <memory>
#include <string>

#include "libs/rpc/channel.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/all-in-one/all_in_one.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {

class RunningServices {
 public:
  RunningServices() {
    all_in_one::Options options;
    options.store.store.path = folder_.path();
    options.store.store.seal.block_events = 256;  // so that small sessions have several too
    options.listen = "127.0.0.1:0";
    services_ = *all_in_one::AllInOne::Start(options);
    channel_ = *rpc::Connect(services_->address());
    query_ = nanolane::query::v1::QueryService::NewStub(channel_);
    store_ = nanolane::store::v1::StoreService::NewStub(channel_);
  }

  store::StoreEngine& engine() { return services_->engine(); }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  nanolane::query::v1::QueryService::Stub& query() { return *query_; }
  nanolane::store::v1::StoreService::Stub& store() { return *store_; }

 private:
  TempFolder folder_;
  std::unique_ptr<all_in_one::AllInOne> services_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<nanolane::query::v1::QueryService::Stub> query_;
  std::unique_ptr<nanolane::store::v1::StoreService::Stub> store_;
};

}  // namespace nanolane::testing
