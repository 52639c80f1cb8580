#include "libs/ingest/session_writer.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::ingest {
namespace {

using nanolane::store::v1::AppendRequest;
using nanolane::store::v1::AppendResponse;

// Dictionary entries of one append; far below the largest message.
constexpr size_t kDictionaryBytes = 4 << 20;

}  // namespace

SessionWriter::SessionWriter(const nanolane::trace::v1::Session& session,
                             const WriterOptions& options)
    : options_(options), session_(session) {}

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
  trace::EventColumns& events = lanes_[lane];
  events.Add(event);
  ++buffered_;
  if (events.size() >= options_.block_events) return CutLane(lane);
  if (buffered_ >= options_.buffered_events) return CutFullestLane();
  return absl::OkStatus();
}

// The lowest of several that are equally full.
absl::Status SessionWriter::CutFullestLane() {
  const auto fullest = std::max_element(
      lanes_.begin(), lanes_.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return CutLane(fullest->first);
}

absl::Status SessionWriter::CutLane(trace::LaneId lane) {
  trace::EventColumns& events = lanes_[lane];
  if (events.empty()) return absl::OkStatus();
  events.SortByStart();
  const trace::OpId op = *std::max_element(events.op.begin(), events.op.end());
  const trace::StackId stack = *std::max_element(events.stack.begin(), events.stack.end());
  ASSIGN_OR_RETURN(
      std::string block,
      trace::EncodeBlock(events, {.lane = lane, .needs = dictionary_.NeedsOf(op, stack)}));
  buffered_ -= events.size();
  events.clear();
  pending_bytes_ += block.size();
  pending_.add_blocks(std::move(block));
  return pending_bytes_ < options_.append_bytes ? absl::OkStatus() : Send();
}

absl::Status SessionWriter::Send() {
  AppendRequest last = std::exchange(pending_, {});
  pending_bytes_ = 0;
  nanolane::trace::v1::DictionaryDelta delta;
  trace::ToProto(dictionary_.TakeDelta(), delta);
  std::vector<nanolane::trace::v1::DictionaryDelta> pieces =
      trace::SplitDelta(std::move(delta), kDictionaryBytes);
  // All but the last piece go ahead in appends of their own.
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    AppendRequest ahead;
    ahead.mutable_dictionary()->Swap(&pieces[i]);
    RETURN_IF_ERROR(SendOne(std::move(ahead)));
  }
  if (!pieces.empty()) last.mutable_dictionary()->Swap(&pieces.back());
  return SendOne(std::move(last));
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
  for (const auto& [lane, events] : lanes_) RETURN_IF_ERROR(CutLane(lane));
  session_ = final_session;
  session_.set_ended(true);
  *pending_.mutable_session() = session_;
  RETURN_IF_ERROR(Send());
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
