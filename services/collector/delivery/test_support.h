// What the tests of delivery share: a store that does as it is told and keeps what it took.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libs/base/mutex.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/collector/delivery/delivery.h"
#include "tests/support/temp_folder.h"

namespace nanolane::collector {

inline constexpr char kSessionId[] = "00112233445566778899aabbccddeeff";
inline constexpr std::chrono::seconds kSoon(20);  // how long a test waits before it gives up

nanolane::trace::v1::Session SessionNamed(const std::string& id, const std::string& host = "");
// A request that can be told from others.
nanolane::store::v1::AppendRequest RequestOf(const std::string& block);

// Follows the store's rules for sequences and sessions, as docs and store.proto have them. What it
// took outlives its server. Thread-safe.
class FakeStore final : public nanolane::store::v1::StoreService::Service {
 public:
  using AppendRequest = nanolane::store::v1::AppendRequest;
  using AppendResponse = nanolane::store::v1::AppendResponse;

  enum class Act {
    kTake,          // and acknowledge
    kTakeAndBreak,  // without an acknowledgement
    kBreak,
    kHang,    // reads on, takes and says nothing more, until the client or BreakStreams() ends it
    kFull,    // RESOURCE_EXHAUSTED
    kRefuse,  // INVALID_ARGUMENT
  };

  FakeStore();
  ~FakeStore() override;

  // What to do with each message from now on; streams that are open stay so.
  void Do(Act act);
  // The same, asked for each message, one at a time.
  void Do(std::function<Act(const AppendRequest&)> script);
  // The server goes, with all streams, and comes back under the same address.
  void Stop();
  void Start();
  void BreakStreams();

  std::shared_ptr<grpc::Channel> channel() const { return channel_; }

  // What it has of an epoch: the blocks of the requests 1, 2, 3, ….
  std::vector<std::string> Taken(uint64_t epoch, const std::string& session_id = kSessionId) const;
  nanolane::trace::v1::Session SessionOf(const std::string& session_id = kSessionId) const;
  int streams() const;
  // Waits until it has been sent this many messages altogether.
  bool WaitMessages(int count);

  grpc::Status Append(grpc::ServerContext* context,
                      grpc::ServerReaderWriter<AppendResponse, AppendRequest>* stream) override;
  grpc::Status GetSession(grpc::ServerContext* context,
                          const nanolane::store::v1::GetSessionRequest* request,
                          nanolane::store::v1::GetSessionResponse* response) override;

 private:
  grpc::Status Serve(grpc::ServerReaderWriter<AppendResponse, AppendRequest>* stream);
  // OK and the acknowledgement, or an error.
  grpc::Status Take(const std::pair<std::string, uint64_t>& key, const AppendRequest& request,
                    uint64_t& acknowledged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const testing::TempFolder folder_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;

  mutable base::Mutex mutex_;
  base::CondVar message_came_;
  std::function<Act(const AppendRequest&)> script_ ABSL_GUARDED_BY(mutex_);
  std::set<grpc::ServerContext*> contexts_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, uint64_t>, std::vector<std::string>> taken_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, nanolane::trace::v1::Session> sessions_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;
  int messages_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Short times, so that nothing waits for long.
DeliveryOptions QuickOptions(const FakeStore& store);
SpoolOptions SpoolIn(const std::string& folder);

}  // namespace nanolane::collector
