// Writes sessions to a store over gRPC: sends what a BlockBuilder makes of the events, keeps a
// bounded number of appends on the way, and waits for the last one to be on disk.
//
// Sequences and blocks depend on the events alone, so that an import that is repeated after a crash
// sends the same appends and the store keeps each once.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>

#include "libs/base/mutex.h"
#include "libs/ingest/block_builder.h"
#include "libs/ingest/session_sink.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::ingest {

struct WriterOptions {
  uint64_t epoch = 1;
  // Events of a block. Larger blocks pack better; live ones are trace::kLiveBlockEvents.
  size_t block_events = 16'384;
  // Events over all lanes that wait for their block to fill; beyond it the fullest lane is cut.
  size_t buffered_events = 256 * 1024;
  // An append is sent once its blocks reach this size.
  size_t append_bytes = 256 << 10;
  // Appends that may wait for their acknowledgement. Add() blocks at the bound.
  int appends_in_flight = 16;
};

// One session. Thread-compatible.
class SessionWriter final : public SessionSink {
 public:
  // Opens the append stream. Errors are the store's.
  static absl::StatusOr<std::unique_ptr<SessionWriter>> Open(
      nanolane::store::v1::StoreService::StubInterface& store,
      const nanolane::trace::v1::Session& session, const WriterOptions& options);
  ~SessionWriter() override;

  trace::DictionaryBuilder& dictionary() override { return builder_.dictionary(); }
  absl::Status Add(trace::LaneId lane, const trace::Event& event) override;
  absl::Status Finish(const nanolane::trace::v1::Session& final_session) override;

 private:
  using Stream = grpc::ClientReaderWriterInterface<nanolane::store::v1::AppendRequest,
                                                   nanolane::store::v1::AppendResponse>;

  SessionWriter(const nanolane::trace::v1::Session& session, const WriterOptions& options);

  absl::Status Send(BlockBuilder::Appends appends);
  absl::Status SendOne(nanolane::store::v1::AppendRequest request);
  void ReadAcknowledgements();
  absl::Status EndStream();

  const WriterOptions options_;
  nanolane::trace::v1::Session session_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  std::thread reader_;
  bool ended_ = false;

  BlockBuilder builder_;
  uint64_t sequence_ = 0;

  base::Mutex mutex_;
  base::CondVar acknowledged_changed_;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stream_broken_ ABSL_GUARDED_BY(mutex_) = false;
};

// A sink factory that writes to the store behind a channel. Thread-safe.
class StoreSinkFactory final : public SinkFactory {
 public:
  explicit StoreSinkFactory(const std::shared_ptr<grpc::Channel>& channel,
                            const WriterOptions& options = {});

  absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> FindEnded(
      const std::string& session_id) override;
  absl::StatusOr<std::unique_ptr<SessionSink>> Open(
      const nanolane::trace::v1::Session& session) override;

 private:
  std::unique_ptr<nanolane::store::v1::StoreService::Stub> store_;
  const WriterOptions options_;
};

}  // namespace nanolane::ingest
