#include "clients/desktop/model/tile_loader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {
namespace {

// Of the service, for lanes times columns.
constexpr size_t kMostColumns = 262'144;

bool Same(const TileQuestion& a, const TileQuestion& b) {
  return a.window.start_ns == b.window.start_ns && a.window.end_ns == b.window.end_ns &&
         a.width == b.width && a.lanes == b.lanes;
}

absl::StatusOr<TileLane> SpansOf(const trace::v1::TileColumns& columns, uint32_t width,
                                 size_t names) {
  const auto is_whole = [width](int size) { return static_cast<uint32_t>(size) == width; };
  if (!is_whole(columns.covered_ns_size()) || !is_whole(columns.starts_size()) ||
      !is_whole(columns.present_size()) || !is_whole(columns.dominant_category_size()) ||
      !is_whole(columns.dominant_name_size()) || !is_whole(columns.longest_start_ns_size()) ||
      !is_whole(columns.longest_ns_size()) || !is_whole(columns.longest_name_size())) {
    return absl::DataLossError("an answer has not as many columns as were asked for");
  }
  TileLane lane;
  lane.spans.resize(width);
  lane.dominant_name.resize(width);
  lane.longest.resize(width);
  for (uint32_t i = 0; i < width; ++i) {
    const auto at = static_cast<int>(i);
    timeline::PixelColumn& column = lane.spans[i];
    column.covered_ns = static_cast<int64_t>(
        std::min<uint64_t>(columns.covered_ns(at), std::numeric_limits<int64_t>::max()));
    column.starts = columns.starts(at);
    column.present = columns.present(at);
    column.edge_covered = column.covered_ns > 0;
    const int category = columns.dominant_category(at);
    if (category < 0 || category > static_cast<int>(trace::kCategoryCount)) {
      return absl::DataLossError("an answer has a category that is not known here");
    }
    if (category > 0) column.dominant = static_cast<trace::Category>(category - 1);
    const uint32_t dominant = columns.dominant_name(at);
    const uint32_t longest = columns.longest_name(at);
    if (dominant > names || longest > names) {
      return absl::DataLossError("an answer names what it does not have");
    }
    lane.dominant_name[i] = dominant;
    lane.longest[i] = {.start_ns = columns.longest_start_ns(at),
                       .duration_ns = static_cast<int64_t>(std::min<uint64_t>(
                           columns.longest_ns(at), std::numeric_limits<int64_t>::max())),
                       .name = longest};
  }
  return lane;
}

absl::StatusOr<TileLane> LevelsOf(const trace::v1::LevelColumns& columns, uint32_t width) {
  const auto is_whole = [width](int size) { return static_cast<uint32_t>(size) == width; };
  if (!is_whole(columns.known_size()) || !is_whole(columns.lowest_bytes_size()) ||
      !is_whole(columns.highest_bytes_size()) || !is_whole(columns.last_bytes_size()) ||
      !is_whole(columns.changes_size())) {
    return absl::DataLossError("an answer has not as many columns as were asked for");
  }
  TileLane lane;
  lane.levels.resize(width);
  for (uint32_t i = 0; i < width; ++i) {
    const auto at = static_cast<int>(i);
    lane.levels[i] = {.known = columns.known(at),
                      .lowest = columns.lowest_bytes(at),
                      .highest = columns.highest_bytes(at),
                      .last = columns.last_bytes(at),
                      .changes = columns.changes(at)};
  }
  return lane;
}

}  // namespace

TileLoader::TileLoader(std::shared_ptr<grpc::Channel> channel, std::string session_id,
                       std::function<void()> on_answer)
    : session_id_(std::move(session_id)),
      on_answer_(std::move(on_answer)),
      stub_(query::v1::QueryService::NewStub(channel)),
      thread_([this] { Run(); }) {}

TileLoader::~TileLoader() {
  {
    base::MutexLock lock(mutex_);
    leaving_ = true;
    if (call_ != nullptr) call_->TryCancel();
    changed_.NotifyAll();
  }
  thread_.join();
}

void TileLoader::Ask(TileQuestion question) {
  base::MutexLock lock(mutex_);
  if (answering_.has_value() && Same(*answering_, question)) {
    waiting_.reset();
    return;
  }
  waiting_ = std::move(question);
  changed_.NotifyAll();
}

std::optional<absl::StatusOr<std::shared_ptr<const TileFrame>>> TileLoader::Take() {
  base::MutexLock lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

absl::StatusOr<std::shared_ptr<const TileFrame>> TileLoader::Wait() {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return answer_.has_value(); });
  return *std::exchange(answer_, std::nullopt);
}

void TileLoader::Run() {
  for (;;) {
    grpc::ClientContext context;
    TileQuestion question;
    {
      base::MutexLock lock(mutex_);
      changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return leaving_ || waiting_.has_value();
      });
      if (leaving_) return;
      question = *std::exchange(waiting_, std::nullopt);
      answering_ = question;
      call_ = &context;
    }
    Answer answer = Fetch(question, context);
    {
      base::MutexLock lock(mutex_);
      call_ = nullptr;
      answering_.reset();
      if (leaving_) return;
      answer_ = std::move(answer);
      changed_.NotifyAll();
    }
    on_answer_();
  }
}

TileLoader::Answer TileLoader::Fetch(const TileQuestion& question, grpc::ClientContext& context) {
  query::v1::GetTilesRequest request;
  request.mutable_window()->set_start_ns(question.window.start_ns);
  request.mutable_window()->set_end_ns(question.window.end_ns);
  request.set_columns(question.width);
  // The rest is asked for once these are there.
  const size_t most = std::max<size_t>(1, kMostColumns / std::max<uint32_t>(question.width, 1));
  for (size_t i = 0; i < std::min(question.lanes.size(), most); ++i) {
    query::v1::LaneRef& lane = *request.add_lanes();
    lane.set_session_id(session_id_);
    lane.set_lane_id(question.lanes[i]);
  }
  query::v1::GetTilesResponse response;
  const grpc::Status status = stub_->GetTiles(&context, request, &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  auto frame = std::make_shared<TileFrame>();
  frame->window = question.window;
  frame->width = question.width;
  frame->names = {response.names().begin(), response.names().end()};
  // A lane that is not there has nothing to show, and is not asked for again.
  for (const query::v1::LaneRef& lane : request.lanes()) {
    frame->lanes[lane.lane_id()].spans.resize(question.width);
    frame->lanes[lane.lane_id()].dominant_name.resize(question.width);
    frame->lanes[lane.lane_id()].longest.resize(question.width);
  }
  for (const query::v1::LaneTiles& tiles : response.lanes()) {
    if (tiles.has_spans()) {
      ASSIGN_OR_RETURN(frame->lanes[tiles.lane().lane_id()],
                       SpansOf(tiles.spans(), question.width, frame->names.size()));
    } else if (tiles.has_levels()) {
      ASSIGN_OR_RETURN(frame->lanes[tiles.lane().lane_id()],
                       LevelsOf(tiles.levels(), question.width));
    }
  }
  return std::shared_ptr<const TileFrame>(std::move(frame));
}

}  // namespace nanolane::desktop
