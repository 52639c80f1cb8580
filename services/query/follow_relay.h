// Follow: passes a session's steps on from the store to a client, one at a time. Holds no thread:
// the next step is read once the client has taken the last one, so that a slow client slows its own
// stream alone.
#pragma once

#include <grpcpp/grpcpp.h>

#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::query {

// A reactor that deletes itself once both sides are done.
grpc::ServerWriteReactor<nanolane::query::v1::FollowResponse>* StartFollow(
    nanolane::store::v1::StoreService::Stub& store,
    const nanolane::query::v1::FollowRequest& request);

}  // namespace nanolane::query
