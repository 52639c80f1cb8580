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
    services_ = *all_in_one::AllInOne::Start({.data = folder_.path(), .listen = "127.0.0.1:0"});
    channel_ = *rpc::Connect(services_->address());
    query_ = nanolane::query::v1::QueryService::NewStub(channel_);
    store_ = nanolane::store::v1::StoreService::NewStub(channel_);
  }

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
