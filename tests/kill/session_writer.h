// A writer of the crash test: drives one session at a time through its life over real append
// streams, until it has made its steps or the server has gone, and keeps the model of what was
// acknowledged. The model and the writer outlive crashes, streams do not.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libs/base/mutex.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "tests/kill/killer.h"
#include "tests/kill/session_model.h"

namespace nanolane::testing {

struct KillStubs {
  std::unique_ptr<store::v1::StoreService::Stub> store;
  std::unique_ptr<query::v1::QueryService::Stub> query;
};

// Which session a writer is at, for those who follow it. Thread-safe.
class CurrentSession {
 public:
  struct Place {
    std::string id;
    uint64_t generation = 0;
  };

  void Set(const SessionModel& session);
  // Followers are to stop.
  void Close();
  void Open();
  // Whether this is still the one.
  bool Is(uint64_t generation);
  // Waits for a session of a generation beyond this one; false: closed.
  bool WaitBeyond(uint64_t generation, Place& place);

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  Place place_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Thread-compatible.
class KillWriter {
 public:
  KillWriter(int number, uint64_t seed);
  ~KillWriter();

  // Random steps; ends early, without a problem, once the killer has fired.
  void Run(KillStubs& stubs, Killer& killer, int steps);
  // Sends what is missing, ends the session, and waits until all is acknowledged.
  void Finish(KillStubs& stubs, Killer& killer);

  SessionModel& session() { return *session_; }
  const SessionModel& session() const { return *session_; }
  // Ended and left as they are.
  const std::vector<std::unique_ptr<SessionModel>>& kept() const { return kept_; }
  // Deleted for good, and acknowledged.
  const std::set<std::string>& deleted() const { return deleted_; }
  size_t deletions() const { return deletions_; }
  CurrentSession& current() { return current_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  class Stream;

  void Step(KillStubs& stubs, Killer& killer);
  // Opens a stream if there is none and sends what is not acknowledged.
  bool Connect(KillStubs& stubs, Killer& killer);
  bool SendNew(KillStubs& stubs, Killer& killer, int64_t appends, bool end);
  // Reads acknowledgements until this sequence.
  bool Await(Killer& killer, uint64_t sequence);
  bool CloseStream(Killer& killer);
  void CancelStream();
  // The server has gone, or a problem is noted. Always false.
  bool Failed(const Killer& killer, const absl::Status& status, const char* doing);
  void Delete(KillStubs& stubs, Killer& killer);
  void NewSession(std::string id);
  std::string NewId();

  const int number_;
  Random random_;
  uint64_t generation_ = 0;
  std::unique_ptr<SessionModel> session_;
  std::vector<std::unique_ptr<SessionModel>> kept_;
  std::set<std::string> deleted_;
  size_t deletions_ = 0;
  CurrentSession current_;
  std::unique_ptr<Stream> stream_;
  bool broken_ = false;  // the server has gone
  std::vector<std::string> problems_;
};

}  // namespace nanolane::testing
