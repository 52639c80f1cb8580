// Which sessions the query service has, and where their data lies: asked on a thread of its own,
// so that no frame ever waits for a server.
//
// The list is read again every few seconds while somebody looks at it or something is recorded, and
// seldom otherwise; a failed try is repeated after pauses that grow to a bound. Of questions for
// density the newest is answered, and the last answer stays until the next one is there. Each
// answer is a value that nothing changes any more, shared with whoever draws from it.
//
// Thread-safe. Destroying the catalog cancels the call under way and joins the thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "clients/desktop/model/catalog_facts.h"
#include "grpcpp/grpcpp.h"
#include "libs/base/mutex.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::desktop {

struct CatalogOptions {
  std::chrono::nanoseconds eager = std::chrono::seconds(2);  // between readings, while looked at
  std::chrono::nanoseconds calm = std::chrono::seconds(20);  // and else
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(250);  // after a failure
  std::chrono::nanoseconds longest_pause = std::chrono::seconds(8);
  // Called on the catalog's thread when there is something new.
  std::function<void()> on_change = [] {};
};

class SessionCatalog {
 public:
  SessionCatalog(std::shared_ptr<grpc::Channel> channel, CatalogOptions options);
  ~SessionCatalog();
  SessionCatalog(const SessionCatalog&) = delete;
  SessionCatalog& operator=(const SessionCatalog&) = delete;

  // Never null. Shared, because it is replaced while somebody draws from it.
  std::shared_ptr<const CatalogSnapshot> sessions() const;
  // Null: none has come yet.
  std::shared_ptr<const DensityAnswer> density() const;

  // Whether somebody looks at the list or something in it grows.
  void SetEager(bool eager);
  // Asked again only where it differs from the question before it.
  void Ask(DensityQuestion question);

 private:
  using Stub = query::v1::QueryService::Stub;
  enum class Next { kEnd, kSessions, kDensity };

  void Run();
  Next WaitForWork();
  bool ReadSessions();
  bool ReadDensity();
  // What the destructor may cancel meanwhile.
  grpc::Status Call(const std::function<grpc::Status(grpc::ClientContext&)>& call);

  const CatalogOptions options_;
  const std::unique_ptr<Stub> stub_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::shared_ptr<const CatalogSnapshot> sessions_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const DensityAnswer> density_ ABSL_GUARDED_BY(mutex_);
  std::optional<DensityQuestion> question_ ABSL_GUARDED_BY(mutex_);
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;  // the question is to be answered
  bool eager_ ABSL_GUARDED_BY(mutex_) = true;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Of the thread alone.
  std::chrono::steady_clock::time_point read_at_{};
  std::chrono::nanoseconds pause_{0};  // after failures in a row; 0: the last try succeeded
  std::thread thread_;                 // last: starts when everything else stands
};

// All that the service lists, newest first.
absl::StatusOr<std::vector<SessionFacts>> ListAllSessions(
    const std::function<grpc::Status(const query::v1::ListSessionsRequest&,
                                     query::v1::ListSessionsResponse&)>& list);

query::v1::GetDensityRequest RequestOf(const DensityQuestion& question);
std::vector<DensityLayer> LayersOf(const query::v1::GetDensityResponse& response);

}  // namespace nanolane::desktop
