// Ends the sessions of captures that a former collector began and that nobody can bring to their
// end any more: the process has ended, and its ring with it, or says that it has no ring of them.
// What the process had recorded and no collector had taken is lost, which the session then says.
//
// One thread, which waits for the store and for what is left of the session in the spool.
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "libs/base/mutex.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/collector/capture_journal.h"
#include "services/collector/delivery/spool.h"

namespace nanolane::collector {

class LeftCaptures {
 public:
  struct Options {
    std::string proc = "/proc";
    std::shared_ptr<grpc::Channel> store;
  };

  // Takes over what lies in the journal. Both outlive this.
  LeftCaptures(CaptureJournal& journal, const Spool& spool, const Options& options);
  // Ends promptly, but for a call of the store that is under way.
  ~LeftCaptures();

  // A process has handed over the ring of this session: it is somebody else's from here on. What
  // was known of it when it began; nothing, where it was not left.
  std::optional<nanolane::trace::v1::Session> TakeOver(const std::string& session_id);
  // A process says that it holds no ring.
  void HoldsNothing(uint64_t pid);

 private:
  struct Left {
    CaptureJournal::Entry entry;
    bool over = false;
  };

  void Run();
  // OK: the session has ended, and the store says so.
  absl::Status End(const CaptureJournal::Entry& entry);

  CaptureJournal& journal_;
  const Spool& spool_;
  const std::string proc_;
  const std::unique_ptr<nanolane::store::v1::StoreService::StubInterface> store_;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, Left> left_ ABSL_GUARDED_BY(mutex_);  // by session
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nanolane::collector
