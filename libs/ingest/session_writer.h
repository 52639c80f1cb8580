// Writes sessions to a store over gRPC: encodes events into blocks, sends each dictionary entry
// once before what needs it, keeps a bounded number of appends on the way, and waits for the last
// one to be on disk.
//
// Sequences and blocks depend on the events alone, so that an import that is repeated after a crash
// sends the same appends and the store keeps each once.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libs/base/mutex.h"
#include "libs/ingest/session_sink.h"
#include "libs/trace/event_columns.h"
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

  trace::DictionaryBuilder& dictionary() override { return dictionary_; }
  absl::Status Add(trace::LaneId lane, const trace::Event& event) override;
  absl::Status Finish(const nanolane::trace::v1::Session& final_session) override;

 private:
  using Stream = grpc::ClientReaderWriterInterface<nanolane::store::v1::AppendRequest,
                                                   nanolane::store::v1::AppendResponse>;

  SessionWriter(const nanolane::trace::v1::Session& session, const WriterOptions& options);

  absl::Status CutLane(trace::LaneId lane);
  absl::Status CutFullestLane();
  // Sends what is pending and the dictionary's news.
  absl::Status Send();
  absl::Status SendOne(nanolane::store::v1::AppendRequest request);
  void ReadAcknowledgements();
  absl::Status EndStream();

  const WriterOptions options_;
  nanolane::trace::v1::Session session_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  std::thread reader_;
  bool ended_ = false;

  trace::DictionaryBuilder dictionary_;
  // Ordered: which lane is cut, and the order of the last cuts, must be the same in every run.
  std::map<trace::LaneId, trace::EventColumns> lanes_;
  size_t buffered_ = 0;
  nanolane::store::v1::AppendRequest pending_;  // without dictionary, session and sequence
  size_t pending_bytes_ = 0;
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
