// Server-side handlers that run on a worker pool: plain blocking code behind gRPC's callback API.
//
// RunUnary() answers a unary call with what a function returns. StreamFromProducer() drives a
// server stream: the producer writes messages one after the other; Write() blocks while the message
// before it has not left, which is the stream's back-pressure, and says when the client has gone.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "libs/rpc/status.h"
#include "libs/rpc/worker_pool.h"

namespace nanolane::rpc {

inline absl::Status TooBusy() {
  return absl::ResourceExhaustedError("the server has too many calls at once; try again later");
}

// For `work` below: moves a result into the response, or passes its error on.
template <typename Response>
absl::Status Fill(absl::StatusOr<Response> result, Response& response) {
  if (!result.ok()) return result.status();
  response = *std::move(result);
  return absl::OkStatus();
}

// `work` fills the response that the caller holds. Its deadline is the client's.
inline grpc::ServerUnaryReactor* RunUnary(WorkerPool& pool, grpc::CallbackServerContext& context,
                                          std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  const bool taken =
      pool.TrySubmit([reactor, work = std::move(work)] { reactor->Finish(ToGrpc(work())); });
  if (!taken) reactor->Finish(ToGrpc(TooBusy()));
  return reactor;
}

template <typename Response>
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // False: the client has gone or cancelled; the producer should end.
  [[nodiscard]] virtual bool Write(Response message) = 0;
  virtual bool cancelled() const = 0;
};

template <typename Response>
class ProducerStream final : public grpc::ServerWriteReactor<Response>,
                             public StreamWriter<Response> {
 public:
  using Producer = std::function<absl::Status(StreamWriter<Response>&)>;

  static ProducerStream* Start(WorkerPool& pool, Producer producer) {
    auto* stream = new ProducerStream();  // deletes itself in OnDone
    const bool taken = pool.TrySubmit([stream, producer = std::move(producer)] {
      const absl::Status status = producer(*stream);
      stream->WaitForWrite();
      stream->Finish(ToGrpc(status));
    });
    if (!taken) stream->Finish(ToGrpc(TooBusy()));
    return stream;
  }

  bool Write(Response message) override {
    WaitForWrite();
    {
      base::MutexLock lock(mutex_);
      if (cancelled_) return false;
      in_flight_ = true;
    }
    message_ = std::move(message);
    this->StartWrite(&message_);
    return true;
  }

  bool cancelled() const override {
    base::MutexLock lock(mutex_);
    return cancelled_;
  }

  void OnWriteDone(bool ok) override {
    base::MutexLock lock(mutex_);
    in_flight_ = false;
    cancelled_ = cancelled_ || !ok;
    // Notified under the lock: the waiter may finish the stream, and with it this object, at once.
    changed_.NotifyAll();
  }

  void OnCancel() override {
    base::MutexLock lock(mutex_);
    cancelled_ = true;
    changed_.NotifyAll();
  }

  void OnDone() override { delete this; }

 private:
  ProducerStream() = default;

  // A write in flight ends soon after a cancellation too, with ok = false.
  void WaitForWrite() {
    base::MutexLock lock(mutex_);
    changed_.Wait(mutex_, [this] { return !in_flight_; });
  }

  Response message_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool in_flight_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace nanolane::rpc
