#include "clients/desktop/model/timeline_loader.h"

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

bool IsMemory(trace::LaneKind kind) {
  return kind == trace::LaneKind::kMemoryDriver || kind == trace::LaneKind::kMemoryFramework;
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
      for (const LaneFacts& lane : opened.lanes) {
        if (lane.id >= trace::kMaxDictionaryEntries)
          return absl::DataLossError("lane id too large");
        if (lane.id >= memory_lane_.size()) memory_lane_.resize(lane.id + 1);
        memory_lane_[lane.id] = IsMemory(lane.lane.kind);
      }
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
    BlockArrived arrived{.session = chunk.session_index(),
                         .lane = block.lane_id(),
                         .epoch = block.epoch(),
                         .columns = {},
                         .packed = block.data(),
                         .expected_events = expected_events};
    trace::ColumnSet columns = trace::ColumnSet::Timeline();
    if (block.lane_id() < memory_lane_.size() && memory_lane_[block.lane_id()]) {
      columns = columns.With(trace::Column::kBytes)
                    .With(trace::Column::kLevel)
                    .With(trace::Column::kReserved);
    }
    RETURN_IF_ERROR(trace::DecodeBlock(arrived.packed, columns, arrived.columns));
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
