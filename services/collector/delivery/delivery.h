// Gets the appends of one session into the store: each exactly once, in order, however often the
// store goes away, and through the spool where it stays away.
//
// Requests wait in memory for their acknowledgement, up to a bound. When the store has acknowledged
// nothing for a while, or memory is full, what waits and whatever comes goes to the spool, and the
// store is served from there until it has caught up. Invariants: sequences are 1, 2, 3, …; what
// lies in the spool is before what lies in memory; the store is sent requests in order, after a
// break from the first one on that it has not acknowledged (it drops what it has). The opening
// message of a stream is the first request itself with the session as it was known there, so that a
// request that is sent again never takes back what a later one said of the session.
//
// An epoch is not sent while one before it, of the same session, waits in the spool: run a
// SpoolReplay. One thread per session, which alone touches the files and the stream.
//
// Push() and Finish() are for one thread; everything else is thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/collector/delivery/append_call.h"
#include "services/collector/delivery/spool_chain.h"

namespace nanolane::collector {

struct DeliveryOptions {
  // Shared by all sessions of a collector. It should look for a store that has gone at least as
  // often as retry_most says (rpc::OpenChannel's does).
  std::shared_ptr<grpc::Channel> store;
  // Requests of one session that wait in memory. One that is larger goes alone.
  size_t memory_bytes = 16 << 20;
  // Requests that are sent ahead of their acknowledgement.
  uint64_t in_flight = 64;
  // Without an acknowledgement for this long, what waits goes to the spool.
  std::chrono::milliseconds spool_after = std::chrono::seconds(1);
  // Without one for this long, a stream is given up and another opened, which gets twice the time.
  std::chrono::milliseconds stalled_after = std::chrono::seconds(30);
  // From a broken stream to the next: doubles from the least to the most.
  std::chrono::milliseconds retry_least = std::chrono::milliseconds(100);
  std::chrono::milliseconds retry_most = std::chrono::seconds(5);
};

class Delivery {
 public:
  // INVALID_ARGUMENT for a session without an id. The spool outlives the delivery, and holds
  // nothing of this epoch.
  static absl::StatusOr<std::unique_ptr<Delivery>> Open(Spool& spool,
                                                        const DeliveryOptions& options,
                                                        const nanolane::trace::v1::Session& session,
                                                        uint64_t epoch);
  // Delivers what a former collector left. Nothing can be pushed.
  static std::unique_ptr<Delivery> Resume(Spool& spool, const DeliveryOptions& options,
                                          std::unique_ptr<SpoolChain> leftover);
  // Ends promptly. What is in memory alone goes to the spool, where there is room.
  ~Delivery();

  // Takes a request without epoch and sequence, with a session only where that has changed, and
  // returns its sequence. Does not wait for the store, but may for the disk. RESOURCE_EXHAUSTED
  // when memory and spool are full: nothing was taken; try again later. INVALID_ARGUMENT for what
  // no store takes (8 MiB, another session). After a refusal: failure().
  absl::StatusOr<uint64_t> Push(nanolane::store::v1::AppendRequest request);

  // Pushes the last request, which says that the session has ended, and returns once it is safe.
  // RESOURCE_EXHAUSTED as Push; call it again then.
  absl::Status Finish(const nanolane::trace::v1::Session& final_session);

  // Every request up to it is acknowledged by the store or synced in the spool.
  uint64_t safe_sequence() const;
  uint64_t acknowledged_sequence() const;
  uint64_t pushed_sequence() const;
  uint64_t spooled_bytes() const;
  // Why the store takes nothing more, ever: INVALID_ARGUMENT, FAILED_PRECONDITION, or DATA_LOSS for
  // a spool that cannot be read. What was not delivered is in the spool's *.refused files.
  absl::Status failure() const;
  // What went wrong last, for people; OK once the store has acknowledged something since.
  absl::Status last_problem() const;

  // Whether the store has everything, waiting for it at most this long. Returns early after a
  // refusal or Stop().
  bool WaitDelivered(std::chrono::milliseconds timeout);
  // As the destructor, without waiting; Push() and waits end.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  using AppendRequest = nanolane::store::v1::AppendRequest;

  Delivery(Spool& spool, const DeliveryOptions& options,
           const nanolane::trace::v1::Session& session, std::unique_ptr<SpoolChain> chain);

  bool HasRoom(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Poke();

  // All of these: the delivery's thread.
  void Run();
  void Step();
  void ShutDown();
  Clock::time_point NextDeadline() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeAcknowledgements();
  void Acknowledge(uint64_t sequence);
  void CheckStream();
  void StreamEnded(const absl::Status& status);
  void RetryLater(const absl::Status& problem);
  void SpillIfNeeded();
  // Moves what is in memory to the spool, as far as there is room.
  void Spill();
  bool SpillBatch();
  void OpenStream();
  void SendSome();
  // Takes the next request; nothing (after a refusal) where it cannot be read.
  std::optional<AppendRequest> TakeNext();
  void LeaveSpool();
  void Refuse(const absl::Status& why);

  Spool& spool_;
  const DeliveryOptions options_;
  const std::string session_id_;
  const bool resumed_;
  const std::unique_ptr<nanolane::store::v1::StoreService::StubInterface> store_;

  // The delivery's thread alone:
  std::unique_ptr<SpoolChain> chain_;
  std::unique_ptr<AppendCall> call_;
  bool opened_ = false;                                // the stream has got its first message
  uint64_t next_ = 1;                                  // what is sent next
  uint64_t sent_ = 0;                                  // highest that was ever sent
  nanolane::trace::v1::Session acknowledged_session_;  // as known at the last acknowledged one
  nanolane::trace::v1::Session spooled_session_;       // as known at the last spooled one
  std::deque<std::pair<uint64_t, nanolane::trace::v1::Session>> sent_sessions_;
  std::chrono::milliseconds retry_{0};
  std::chrono::milliseconds stalled_after_{0};
  Clock::time_point retry_at_;
  Clock::time_point spill_at_;   // where the spool was full: the next attempt
  Clock::time_point opened_at_;  // of the stream

  mutable base::Mutex mutex_;
  base::CondVar wake_;                                        // the delivery's thread
  base::CondVar changed_;                                     // those who wait for it
  std::deque<AppendRequest> memory_ ABSL_GUARDED_BY(mutex_);  // in order, after the spool's
  size_t memory_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t pushed_session_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t pushed_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t spooled_ ABSL_GUARDED_BY(mutex_) = 0;  // last one that was synced to the spool
  uint64_t spooled_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> final_ ABSL_GUARDED_BY(mutex_);
  bool poked_ ABSL_GUARDED_BY(mutex_) = true;
  bool spooling_ ABSL_GUARDED_BY(mutex_) = false;
  bool spool_full_ ABSL_GUARDED_BY(mutex_) = false;  // at the last attempt
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point progress_at_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  absl::Status problem_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace nanolane::collector
