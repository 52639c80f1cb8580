#include "clients/desktop/model/timeline_loader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/desktop/model/facts_from_proto.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/status_macros.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::desktop {
namespace {

constexpr auto kUnaryDeadline = std::chrono::seconds(10);
constexpr int kSessionPage = 1'000;

// What a running server may answer again a moment later.
bool MayPass(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:  // such a stream does not end by itself
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable: return true;
    default: return false;
  }
}

}  // namespace

TimelineLoader::TimelineLoader(std::shared_ptr<grpc::Channel> channel, LoaderOptions options)
    : options_(std::move(options)),
      stub_(query::v1::QueryService::NewStub(std::move(channel))),
      thread_([this] { Run(); }) {}

TimelineLoader::~TimelineLoader() {
  {
    base::MutexLock lock(mutex_);
    cancelled_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  cancelling_.NotifyAll();
  queue_.Close();
  thread_.join();
}

void TimelineLoader::Run() {
  const absl::Status status = Load();
  // A closed queue means that nobody listens any more.
  if (Post(StreamEnded{status}).ok()) queue_.Close();
}

absl::StatusOr<std::unique_ptr<grpc::ClientContext>> TimelineLoader::Begin() {
  auto context = std::make_unique<grpc::ClientContext>();
  base::MutexLock lock(mutex_);
  if (cancelled_) return absl::CancelledError("the viewer has closed the timeline");
  call_ = context.get();
  return context;
}

void TimelineLoader::Done() {
  base::MutexLock lock(mutex_);
  call_ = nullptr;
}

absl::Status TimelineLoader::Load() {
  ASSIGN_OR_RETURN(const trace::v1::SessionSummary session, PickSession());
  if (!session.session().ended()) return Follow(session);
  const bool is_too_large = !options_.range.has_value() && session.events() > options_.most_events;
  return is_too_large ? TellLanes(session) : Stream(session);
}

absl::Status TimelineLoader::TellLanes(const trace::v1::SessionSummary& session) {
  query::v1::ListLanesRequest request;
  request.mutable_scope()->add_session_ids(session.session().session_id());
  ASSIGN_OR_RETURN(const std::unique_ptr<grpc::ClientContext> context, Begin());
  context->set_deadline(std::chrono::system_clock::now() + kUnaryDeadline);
  query::v1::ListLanesResponse response;
  const grpc::Status listed = stub_->ListLanes(context.get(), request, &response);
  Done();
  RETURN_IF_ERROR(FromGrpc(listed));
  StreamOpened opened;
  opened.sessions.push_back(FactsOf(session));
  for (const query::v1::LaneInfo& lane : response.lanes()) opened.lanes.push_back(FactsOf(lane, 0));
  opened.is_part = true;
  return Post(std::move(opened));
}

absl::Status TimelineLoader::Stream(const trace::v1::SessionSummary& session) {
  query::v1::StreamTimelineRequest request;
  request.mutable_scope()->add_session_ids(session.session().session_id());
  request.set_max_block_version(trace::kBlockVersion);
  if (options_.range.has_value()) {
    const Wide origin = session.start_ns();
    request.mutable_window()->set_start_ns(ClampToInt64(origin + options_.range->from_ns));
    request.mutable_window()->set_end_ns(ClampToInt64(origin + options_.range->to_ns));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<grpc::ClientContext> context, Begin());
  const auto reader = stub_->StreamTimeline(context.get(), request);
  query::v1::StreamTimelineResponse response;
  absl::Status status;
  bool complete = false;
  while (status.ok() && reader->Read(&response)) {
    complete = response.has_end();
    status = Forward(response);
  }
  if (!status.ok()) context->TryCancel();
  const grpc::Status finished = reader->Finish();
  Done();
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(FromGrpc(finished));
  if (!complete) return absl::DataLossError("the stream ended before everything was sent");
  return absl::OkStatus();
}

absl::Status TimelineLoader::Follow(const trace::v1::SessionSummary& session) {
  FollowSteps steps(session, [this](LoaderMessage message) { return Post(std::move(message)); });
  std::chrono::nanoseconds pause = options_.first_pause;
  while (true) {
    const uint64_t taken = steps.taken();
    absl::Status status = FollowOnce(session.session().session_id(), steps);
    if (steps.complete()) return absl::OkStatus();
    if (!MayPass(status)) return status;
    if (status.ok()) status = absl::UnavailableError("the stream of a running session has ended");
    if (!options_.resume) return status;
    RETURN_IF_ERROR(Post(Interrupted{status}));
    if (steps.taken() != taken) pause = options_.first_pause;
    RETURN_IF_ERROR(Rest(pause));
    pause = std::min(pause * 2, kLongestPause);
  }
}

absl::Status TimelineLoader::FollowOnce(const std::string& session_id, FollowSteps& steps) {
  query::v1::FollowRequest request;
  request.set_session_id(session_id);
  request.set_cursor(steps.cursor());
  request.set_max_block_version(trace::kBlockVersion);
  ASSIGN_OR_RETURN(const std::unique_ptr<grpc::ClientContext> context, Begin());
  const auto reader = stub_->Follow(context.get(), request);
  query::v1::FollowResponse step;
  absl::Status status;
  while (status.ok() && !steps.complete() && reader->Read(&step)) status = steps.Take(step);
  // Such a stream ends when one of both sides gives up.
  if (!status.ok() || steps.complete()) context->TryCancel();
  const grpc::Status finished = reader->Finish();
  Done();
  RETURN_IF_ERROR(status);
  return FromGrpc(finished);
}

absl::Status TimelineLoader::Rest(std::chrono::nanoseconds pause) {
  base::MutexLock lock(mutex_);
  const bool cancelled = cancelling_.WaitFor(
      mutex_, pause, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return cancelled_; });
  if (!cancelled) return absl::OkStatus();
  return absl::CancelledError("the viewer has closed the timeline");
}

absl::StatusOr<trace::v1::SessionSummary> TimelineLoader::PickSession() {
  query::v1::ListSessionsRequest request;
  request.set_page_size(options_.session.empty() ? 1 : kSessionPage);
  do {
    ASSIGN_OR_RETURN(const std::unique_ptr<grpc::ClientContext> context, Begin());
    context->set_deadline(std::chrono::system_clock::now() + kUnaryDeadline);
    query::v1::ListSessionsResponse response;
    const grpc::Status listed = stub_->ListSessions(context.get(), request, &response);
    Done();
    RETURN_IF_ERROR(FromGrpc(listed));
    for (const auto& summary : response.sessions()) {
      if (absl::StartsWith(summary.session().session_id(), options_.session)) return summary;
    }
    request.set_page_token(response.next_page_token());
  } while (!options_.session.empty() && !request.page_token().empty());
  if (options_.session.empty()) {
    return absl::NotFoundError(absl::StrCat("no sessions at ", options_.server,
                                            "; record one, or run `nanolane import FILE`"));
  }
  return absl::NotFoundError(absl::StrCat("no session \"", options_.session, "\" at ",
                                          options_.server, "; `nanolane ls` lists what is there"));
}

absl::Status TimelineLoader::Forward(const query::v1::StreamTimelineResponse& response) {
  switch (response.payload_case()) {
    case query::v1::StreamTimelineResponse::kHeader: {
      StreamOpened opened = FactsOf(response.header());
      if (opened.sessions.size() != 1) {
        return absl::InternalError(
            absl::StrCat("one session was asked for, ", opened.sessions.size(), " came"));
      }
      if (opened.expected_events > options_.most_events) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", options_.most_events, " events"));
      }
      RETURN_IF_ERROR(blocks_.Know(opened.lanes));
      return Post(std::move(opened));
    }
    case query::v1::StreamTimelineResponse::kDictionary:
      return Post(DictionaryEntries{response.dictionary().session_index(),
                                    response.dictionary().epoch(),
                                    trace::FromProto(response.dictionary().delta())});
    case query::v1::StreamTimelineResponse::kBlocks:
      return ForwardBlocks(response.blocks(), response.expected_events());
    case query::v1::StreamTimelineResponse::kEnd:
    case query::v1::StreamTimelineResponse::PAYLOAD_NOT_SET: return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status TimelineLoader::ForwardBlocks(const query::v1::BlockChunk& chunk,
                                           uint64_t expected_events) {
  for (const query::v1::Block& block : chunk.blocks()) {
    ASSIGN_OR_RETURN(BlockArrived arrived, blocks_.Read(chunk.session_index(), block));
    arrived.expected_events = expected_events;
    RETURN_IF_ERROR(Post(std::move(arrived)));
  }
  return absl::OkStatus();
}

absl::Status TimelineLoader::Post(LoaderMessage message) {
  if (!queue_.Push(std::move(message))) {
    return absl::CancelledError("the viewer has closed the timeline");
  }
  options_.on_message();
  return absl::OkStatus();
}

absl::Status TimelineLoader::FromGrpc(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  if (code == absl::StatusCode::kUnavailable) {
    return absl::UnavailableError(absl::StrCat("no server at ", options_.server,
                                               "; start one with `nanolane up` (",
                                               status.error_message(), ")"));
  }
  return absl::Status(code, absl::StrCat(options_.server, ": ", status.error_message()));
}

}  // namespace nanolane::desktop
