#include "libs/ingest/session_writer.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::ingest {
namespace {

using nanolane::store::v1::AppendRequest;
using nanolane::store::v1::AppendResponse;

}  // namespace

SessionWriter::SessionWriter(const nanolane::trace::v1::Session& session,
                             const WriterOptions& options)
    : options_(options),
      session_(session),
      builder_({.block_events = options.block_events,
                .buffered_events = options.buffered_events,
                .append_bytes = options.append_bytes}) {}

SessionWriter::~SessionWriter() {
  if (ended_ || stream_ == nullptr) return;
  context_.TryCancel();
  EndStream().IgnoreError();
}

absl::StatusOr<std::unique_ptr<SessionWriter>> SessionWriter::Open(
    nanolane::store::v1::StoreService::StubInterface& store,
    const nanolane::trace::v1::Session& session, const WriterOptions& options) {
  std::unique_ptr<SessionWriter> writer(new SessionWriter(session, options));
  writer->stream_ = store.Append(&writer->context_);
  writer->reader_ = std::thread([raw = writer.get()] { raw->ReadAcknowledgements(); });
  return writer;
}

void SessionWriter::ReadAcknowledgements() {
  AppendResponse response;
  while (stream_->Read(&response)) {
    base::MutexLock lock(mutex_);
    acknowledged_ = response.acknowledged_sequence();
    acknowledged_changed_.NotifyAll();
  }
  base::MutexLock lock(mutex_);
  stream_broken_ = true;
  acknowledged_changed_.NotifyAll();
}

absl::Status SessionWriter::Add(trace::LaneId lane, const trace::Event& event) {
  RETURN_IF_ERROR(builder_.Add(lane, event));
  return Send(builder_.TakeFull());
}

absl::Status SessionWriter::Send(BlockBuilder::Appends appends) {
  for (AppendRequest& append : appends) RETURN_IF_ERROR(SendOne(std::move(append)));
  return absl::OkStatus();
}

absl::Status SessionWriter::SendOne(AppendRequest request) {
  if (sequence_ == 0) {
    if (!request.has_session()) *request.mutable_session() = session_;
    request.set_epoch(options_.epoch);
  }
  request.set_sequence(++sequence_);
  bool broken = false;
  {
    base::MutexLock lock(mutex_);
    acknowledged_changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      const uint64_t in_flight = sequence_ - std::min(sequence_, acknowledged_);
      return stream_broken_ || in_flight <= static_cast<uint64_t>(options_.appends_in_flight);
    });
    broken = stream_broken_;
  }
  if (!broken && stream_->Write(request)) return absl::OkStatus();
  absl::Status status = EndStream();
  return status.ok() ? absl::InternalError("the store ended the append stream early") : status;
}

absl::Status SessionWriter::EndStream() {
  if (ended_) return absl::OkStatus();
  ended_ = true;
  stream_->WritesDone();
  reader_.join();
  return rpc::FromGrpc(stream_->Finish());
}

absl::Status SessionWriter::Finish(const nanolane::trace::v1::Session& final_session) {
  RETURN_IF_ERROR(builder_.CutAll());
  RETURN_IF_ERROR(Send(builder_.TakeFull()));
  session_ = final_session;
  session_.set_ended(true);
  // The last append says that the session has ended, whether or not there is data left for it.
  BlockBuilder::Appends rest = builder_.Take();
  if (rest.empty()) rest.emplace_back();
  *rest.back().mutable_session() = session_;
  RETURN_IF_ERROR(Send(std::move(rest)));
  RETURN_IF_ERROR(EndStream());
  base::MutexLock lock(mutex_);
  if (acknowledged_ < sequence_) {
    return absl::DataLossError(base::StrCat("the store acknowledged ", acknowledged_, " of ",
                                            sequence_, " appends; import again"));
  }
  return absl::OkStatus();
}

StoreSinkFactory::StoreSinkFactory(const std::shared_ptr<grpc::Channel>& channel,
                                   const WriterOptions& options)
    : store_(nanolane::store::v1::StoreService::NewStub(channel)), options_(options) {}

absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> StoreSinkFactory::FindEnded(
    const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  nanolane::store::v1::GetSessionRequest request;
  request.set_session_id(session_id);
  nanolane::store::v1::GetSessionResponse response;
  const absl::Status status = rpc::FromGrpc(store_->GetSession(&context, request, &response));
  if (absl::IsNotFound(status)) return std::nullopt;
  RETURN_IF_ERROR(status);
  if (!response.summary().session().ended()) return std::nullopt;
  return response.summary();
}

absl::StatusOr<std::unique_ptr<SessionSink>> StoreSinkFactory::Open(
    const nanolane::trace::v1::Session& session) {
  ASSIGN_OR_RETURN(std::unique_ptr<SessionWriter> writer,
                   SessionWriter::Open(*store_, session, options_));
  return writer;
}

}  // namespace nanolane::ingest
