#include "services/query/follow_relay.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "libs/base/str_cat.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "services/query/lanes.h"

namespace nanolane::query {
namespace {

namespace store_v1 = nanolane::store::v1;

// FAILED_PRECONDITION for blocks that the client does not read.
absl::Status Convert(store_v1::FollowResponse& from, const std::string& session_id,
                     uint32_t max_block_version, v1::FollowResponse& to) {
  to.Clear();
  to.set_cursor(from.cursor());
  to.set_restart(from.restart());
  to.set_caught_up(from.caught_up());
  if (from.has_summary()) to.mutable_summary()->Swap(from.mutable_summary());
  for (store_v1::StoredLane& lane : *from.mutable_lanes()) {
    *to.add_lanes() = LaneInfoOf(session_id, lane);
  }
  for (store_v1::EpochDictionary& dictionary : *from.mutable_dictionaries()) {
    v1::EpochDictionary& added = *to.add_dictionaries();
    added.set_epoch(dictionary.epoch());
    added.mutable_delta()->Swap(dictionary.mutable_delta());
  }
  for (store_v1::StoredBlock& block : *from.mutable_blocks()) {
    const auto header = trace::ReadBlockHeader(block.data());
    if (!header.ok()) return header.status();
    if (header->version > max_block_version) {
      return absl::FailedPreconditionError(
          base::StrCat("the session has blocks of version ", header->version,
                       ", which the client does not read; upgrade it"));
    }
    v1::Block& added = *to.add_blocks();
    added.set_lane_id(block.lane_id());
    added.set_epoch(block.epoch());
    added.mutable_data()->swap(*block.mutable_data());
  }
  return absl::OkStatus();
}

// Both sides take turns: read from the store, write to the client, read … Either side's end ends
// the other; the last of the two OnDone deletes.
class FollowRelay final : public grpc::ServerWriteReactor<v1::FollowResponse> {
 public:
  FollowRelay(store_v1::StoreService::Stub& store, const v1::FollowRequest& request)
      : session_id_(request.session_id()),
        max_block_version_(std::max(request.max_block_version(), uint32_t{1})),
        source_(*this) {
    ask_.set_session_id(request.session_id());
    ask_.set_cursor(request.cursor());
    store.async()->Follow(&context_, &ask_, &source_);
    source_.StartRead(&step_);
    source_.StartCall();
  }

  void OnWriteDone(bool ok) override {
    if (ok) return source_.Resume();
    context_.TryCancel();
    source_.GiveUp();
  }
  void OnCancel() override { context_.TryCancel(); }
  void OnDone() override { Release(); }

 private:
  class Source final : public grpc::ClientReadReactor<store_v1::FollowResponse> {
   public:
    explicit Source(FollowRelay& relay) : relay_(relay) {}
    void OnReadDone(bool ok) override {
      if (!ok) return;  // OnDone follows
      // The read that comes after the client's write is started from outside of this reactor.
      AddHold();
      relay_.Pass();
    }
    void Resume() {
      StartRead(&relay_.step_);
      RemoveHold();
    }
    void GiveUp() { RemoveHold(); }
    void OnDone(const grpc::Status& status) override { relay_.EndWith(status); }

   private:
    FollowRelay& relay_;
  };

  void Pass() {
    const absl::Status status = Convert(step_, session_id_, max_block_version_, message_);
    if (status.ok()) return StartWrite(&message_);
    failure_ = status;
    context_.TryCancel();
    source_.GiveUp();
  }

  void EndWith(const grpc::Status& status) {
    Finish(failure_.ok() ? status : rpc::ToGrpc(failure_));
    Release();
  }

  void Release() {
    if (owners_.fetch_sub(1) == 1) delete this;
  }

  const std::string session_id_;
  const uint32_t max_block_version_;
  store_v1::FollowRequest ask_;
  grpc::ClientContext context_;
  store_v1::FollowResponse step_;  // being read
  v1::FollowResponse message_;     // being written
  absl::Status failure_;
  std::atomic<int> owners_ = 2;
  Source source_;
};

}  // namespace

grpc::ServerWriteReactor<v1::FollowResponse>* StartFollow(store_v1::StoreService::Stub& store,
                                                          const v1::FollowRequest& request) {
  return new FollowRelay(store, request);
}

}  // namespace nanolane::query
