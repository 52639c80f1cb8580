// One capture: its ring, its way into the store, and where it stands.
//
// A thread of its own reads the ring every 20 ms and makes an append of what there is every 100 ms.
// It ends when the process says that it has stopped and everything is read, or when the process has
// gone; then the session is ended in the store, or in the spool where the store is away. A run that
// was adopted after a restart of the collector first learns how much is stored, and waits for the
// store where only that can say.
//
// On*() are called by whoever hears of the process; everything is thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/clock.h"
#include "libs/base/mutex.h"
#include "nanolane/collector/v1/collector.pb.h"
#include "services/collector/delivery/delivery.h"
#include "services/collector/ring/ring_memory.h"
#include "services/collector/session/batch.h"

namespace nanolane::collector {

namespace v1 = nanolane::collector::v1;

// How long things are waited for.
struct RunTimes {
  std::chrono::milliseconds start = std::chrono::seconds(20);  // the process's answer
  // The store's, before whoever asked for a capture hears that it runs.
  std::chrono::milliseconds first_append = std::chrono::seconds(2);
  std::chrono::milliseconds store_retry = std::chrono::seconds(1);
  // After the process has said that it has stopped, or its time is over by this much, what its ring
  // says of itself is not waited for any longer.
  std::chrono::milliseconds end = std::chrono::seconds(20);
};

struct RunOptions {
  const base::Clock* clock = nullptr;
  Spool* spool = nullptr;
  DeliveryOptions delivery;
  // What is known of the session at its start; its id, process and labels stay.
  nanolane::trace::v1::Session session;
  int64_t duration_ns = 0;
  RunTimes times;
  // Of an adopted ring; 0: a new one.
  uint64_t old_epoch = 0;
  bool was_recording = false;  // an adopted ring whose capture still runs
  // Asks the process to stop, or to let go of the ring; may fail, the library has its own deadline.
  std::function<void()> ask_to_stop;
  std::function<void()> release;
  // Asks the process to start into the ring with this descriptor; not for an adopted ring.
  std::function<absl::Status(int ring_descriptor)> ask_to_start;
  // The process is going to be asked to record this session, or has begun to; and its end is safe,
  // or it has failed. A collector that is started after this one knows the session's labels from
  // it, and ends what has begun, where nobody else can.
  std::function<void(const nanolane::trace::v1::Session& session, bool has_begun)> remember;
  std::function<void()> forget;
};

class CaptureRun {
 public:
  // Starts the thread.
  CaptureRun(RunOptions options, std::unique_ptr<RingMemory> ring);
  // Ends promptly: what is not safe yet stays in the ring, for a collector that adopts it.
  ~CaptureRun();

  void OnStarted(const wire::Started& started);
  void OnRefused(const std::string& why);
  void OnStopped();
  void OnProcessGone();
  // The collector's own deadline, and its user's wish.
  void AskToStop();

  const std::string& session_id() const { return session_id_; }
  uint64_t pid() const { return pid_; }

  v1::CaptureStatus status() const;
  // wire::Kinds that the process records.
  uint32_t kinds_on() const;
  // Whether it is DONE or FAILED.
  bool ended() const;

  // Waits until it records and the store knows of the session, or has failed; the reason then.
  absl::Status WaitStarted(std::chrono::milliseconds timeout);
  // Waits for another status than that of `version`, and tells the new version.
  v1::CaptureStatus WaitChange(uint64_t& version, std::chrono::milliseconds timeout) const;

 private:
  struct Progress {
    v1::CaptureState state = v1::CAPTURE_STATE_STARTING;
    std::string message;
    int64_t started_unix_ns = 0;
    int64_t on_ns = 0;
    int64_t off_ns = 0;
    bool stopped = false;  // the process says so
    bool gone = false;     // the process has ended
    bool known = false;    // the store has heard of the session
    uint32_t kinds_on = 0;
    BuilderCounts counts;
    std::vector<nanolane::trace::v1::Loss> losses;
    std::vector<std::string> notes;
    uint64_t safe_events = 0;
    uint64_t spooled_bytes = 0;
    uint64_t version = 1;
  };

  void Run();
  // Until it records; false: it never will.
  void AskToStart();
  bool WaitForStart();
  absl::Status OpenDelivery();
  void Drain();
  // Totals, with what a collector before this one had counted.
  std::vector<nanolane::trace::v1::Loss> LossesSoFar() const;
  // Reads the ring into the batch; whether there may be more.
  absl::StatusOr<bool> FillBatch();
  absl::Status CutBatch();
  // Hands on what is waiting; false: there is no room for it now.
  absl::StatusOr<bool> PushWaiting();
  absl::Status EndSession();
  void UpdateProgress();
  // What the store knows of an adopted session and its process does not.
  absl::Status RecallSession(nanolane::store::v1::StoreService::StubInterface& store);
  nanolane::trace::v1::Session SessionNow();
  bool Sleep(std::chrono::milliseconds time);
  void Fail(const absl::Status& why);
  void SetState(v1::CaptureState state, const std::string& message);
  v1::CaptureStatus StatusLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RunOptions options_;
  const std::string session_id_;
  const uint64_t pid_;
  const std::string executable_;
  const int64_t offset_ns_;  // of Unix time
  const int ring_descriptor_;

  // The run's thread alone:
  nanolane::trace::v1::Session session_;  // without what changes
  std::vector<nanolane::trace::v1::Loss> losses_before_;
  std::unique_ptr<RingMemory> ring_;
  std::unique_ptr<RingReader> reader_;
  std::unique_ptr<Batch> batch_;
  std::unique_ptr<Delivery> delivery_;
  std::deque<nanolane::store::v1::AppendRequest> waiting_;
  uint64_t events_pushed_ = 0;
  std::deque<std::pair<uint64_t, uint64_t>> pushed_;  // sequence, events up to it
  int64_t last_cut_ns_ = 0;
  int64_t last_session_ns_ = 0;
  uint64_t losses_told_ = 0;
  uint64_t last_sequence_ = 0;

  mutable base::Mutex mutex_;
  mutable base::CondVar changed_;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  bool stop_asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace nanolane::collector
