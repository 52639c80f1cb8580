// The agent of a node: knows the processes that have loaded the injection library, and captures
// them on demand. Thread-safe.
//
// Lock order: the collector's mutex before a run's; neither is held across gRPC or a store.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/clock.h"
#include "libs/base/mutex.h"
#include "nanolane/collector/v1/collector.pb.h"
#include "services/collector/capture_journal.h"
#include "services/collector/capture_run.h"
#include "services/collector/control_server.h"
#include "services/collector/delivery/delivery.h"
#include "services/collector/delivery/spool.h"
#include "services/collector/delivery/spool_replay.h"
#include "services/collector/left_captures.h"
#include "services/collector/process_facts.h"
#include "services/collector/static_captures.h"

namespace nanolane::collector {

struct CollectorOptions {
  std::string socket;
  std::string spool_folder;
  uint64_t spool_bytes = uint64_t{4} << 30;
  std::shared_ptr<grpc::Channel> store;
  std::string project = "default";  // of processes that name none
  std::string proc = "/proc";
  uint32_t ring_pages = wire::kDefaultPages;
  std::vector<StaticCapture> static_captures;
  DeliveryOptions delivery;  // but for the store
  RunTimes times;
};

class Collector final : private ControlServer::Delegate {
 public:
  // ALREADY_EXISTS: another collector has the socket; FAILED_PRECONDITION: or the spool.
  static absl::StatusOr<std::unique_ptr<Collector>> Start(const CollectorOptions& options,
                                                          const base::Clock& clock);
  // Leaves running captures to the collector that comes next: what is not safe stays with their
  // processes.
  ~Collector() override;

  const std::string& socket() const { return control_->path(); }

  std::vector<v1::Process> ListProcesses() const;
  absl::StatusOr<v1::StartCaptureResponse> StartCapture(const v1::StartCaptureRequest& request);
  absl::Status EndCapture(const std::string& session_id);
  std::vector<v1::CaptureStatus> ListCaptures() const;
  // A status that is not of `version`, or the same after `timeout`. `version` 0: the first one.
  absl::StatusOr<v1::CaptureStatus> WaitCapture(const std::string& session_id, uint64_t& version,
                                                std::chrono::milliseconds timeout) const;

 private:
  struct Entry {
    ProcessFacts facts;
    std::vector<nanolane::trace::v1::Gpu> gpus;
    std::string project;
    std::string refusal;
    uint32_t cupti_version = 0;
    bool said_hello = false;
    uint32_t adopted = 0;             // rings that it has handed over
    std::shared_ptr<CaptureRun> run;  // the capture that records, or is asked to
  };
  struct Run {
    std::shared_ptr<CaptureRun> run;  // null once it has ended and its status is kept instead
    ProcessFacts facts;
    ConnectionId connection = 0;  // 0: none now
    v1::CaptureStatus last_status;
    int64_t ended_ns = 0;
  };

  Collector(const CollectorOptions& options, const base::Clock& clock);

  void OnConnected(ConnectionId connection, const Peer& peer) override;
  void OnMessage(ConnectionId connection, const std::byte* message, size_t bytes,
                 int descriptor) override;
  void OnClosed(ConnectionId connection) override;
  void OnTick() override;

  void TakeHello(ConnectionId connection, const wire::Hello& hello, int descriptor);
  void TakeGpus(ConnectionId connection, const wire::Gpus& gpus);
  void TakeRefused(ConnectionId connection, const wire::Refused& refused);
  void AdoptRing(ConnectionId connection, const wire::Hello& hello, int descriptor);
  // Of a process that has registered and whose CUDA answers; once, however often it says so.
  void StartStaticCaptures(const ProcessFacts& facts);
  bool IsFirstSight(const ProcessFacts& facts);

  absl::StatusOr<std::shared_ptr<CaptureRun>> BeginRun(const v1::StartCaptureRequest& request,
                                                       uint32_t kinds, int64_t duration_ns);
  RunOptions OptionsFor(const nanolane::trace::v1::Session& session, uint64_t start_ticks,
                        int64_t duration_ns);
  nanolane::trace::v1::Session SessionOf(const Entry& entry, const std::string& session_id) const;
  std::shared_ptr<CaptureRun> FindRun(ConnectionId connection,
                                      const wire::SessionKey& session) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendStop(ConnectionId connection, const wire::SessionKey& session);
  void SendRelease(ConnectionId connection, const wire::SessionKey& session);
  ConnectionId ConnectionOf(const std::string& session_id) const;
  v1::Process ProcessOf(const Entry& entry) const;

  const CollectorOptions options_;
  const base::Clock& clock_;
  const std::string host_;
  const DeliveryOptions delivery_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<SpoolReplay> replay_;
  std::unique_ptr<CaptureJournal> journal_;
  std::unique_ptr<LeftCaptures> left_captures_;

  mutable base::Mutex mutex_;
  std::map<ConnectionId, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Run> runs_ ABSL_GUARDED_BY(mutex_);  // by session
  // Those that the file's captures were looked up for: pid and start.
  std::map<std::pair<uint64_t, uint64_t>, ProcessFacts> seen_ ABSL_GUARDED_BY(mutex_);

  // Last: its thread uses everything above.
  std::unique_ptr<ControlServer> control_;
};

}  // namespace nanolane::collector
