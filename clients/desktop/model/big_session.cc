#include "clients/desktop/model/big_session.h"

#include <algorithm>
#include <utility>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kMostTooLarge = 16;

bool Same(const timeline::Window& a, const timeline::Window& b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

bool Holds(const timeline::Window& outer, const timeline::Window& inner) {
  return outer.start_ns <= inner.start_ns && outer.end_ns >= inner.end_ns;
}

}  // namespace

BigSession::BigSession(const OpenChannelFunction& open_channel, const LoaderOptions& options,
                       const StreamOpened& opened)
    : open_channel_(open_channel),
      options_(options),
      opened_(opened),
      tile_loader_(open_channel(), opened.sessions.front().id, options.on_message) {
  options_.session = opened.sessions.front().id;
  options_.most_events = options.most_part_events;
}

void BigSession::Show(const TimelineModel& model, const LanesInSight& sight, int64_t now_ns) {
  if (!Same(sight.heading_to, still_)) {
    still_ = sight.heading_to;
    still_since_ns_ = now_ns;
  }
  if (model.Has(sight.window) && model.Has(sight.heading_to)) return;
  if (!model.Has(sight.window)) AskForTiles(model, sight);
  const bool rests = now_ns - still_since_ns_ >= kRestNs;
  if (!rests || part_loader_ != nullptr || part_ != nullptr || model.Has(still_)) return;
  if (std::any_of(too_large_.begin(), too_large_.end(),
                  [this](const timeline::Window& window) { return Holds(still_, window); })) {
    return;
  }
  StartPart(still_);
}

void BigSession::AskForTiles(const TimelineModel& model, const LanesInSight& sight) {
  TileQuestion question{.window = sight.window, .width = sight.width, .lanes = {}};
  // First the whole, which everything else may be stretched from.
  const bool has_whole = tiles_.version() > 0;
  if (!has_whole) question.window = sight.overview;
  for (const size_t lane : sight.lanes) question.lanes.push_back(model.lanes()[lane]->facts.id);
  question.lanes = tiles_.Missing(question);
  if (question.lanes.empty() || question.width == 0) return;
  // One at a time: what is under way is of use too, and a window that moves asks again.
  if (asked_.has_value()) return;
  asked_ = question;
  tile_loader_.Ask(std::move(question));
}

void BigSession::StartPart(const timeline::Window& window) {
  part_core_ = window;
  const Wide margin = static_cast<Wide>(kMargin * static_cast<double>(SpanOf(window)));
  part_window_ = {ClampToInt64(window.start_ns - margin), ClampToInt64(window.end_ns + margin)};
  const Wide origin = opened_.sessions.front().start_ns;
  LoaderOptions options = options_;
  options.range = base::TimeRange{.from_ns = ClampToInt64(part_window_.start_ns - origin),
                                  .to_ns = ClampToInt64(part_window_.end_ns - origin)};
  part_ = std::make_unique<TimelineModel>(next_generation_());
  part_loader_ = std::make_unique<TimelineLoader>(open_channel_(), std::move(options));
}

void BigSession::ApplyPart(LoaderMessage message) {
  if (auto* opened = std::get_if<StreamOpened>(&message)) {
    // All lanes stay, also those that have nothing here.
    StreamOpened part = opened_;
    part.expected_events = opened->expected_events;
    part.part_start_ns = part_window_.start_ns;
    part.part_end_ns = part_window_.end_ns;
    message = std::move(part);
  }
  const auto* ended = std::get_if<StreamEnded>(&message);
  const absl::Status status = ended != nullptr ? ended->status : absl::OkStatus();
  if (ended != nullptr) part_loader_.reset();
  if (absl::IsResourceExhausted(status)) {
    if (too_large_.size() == kMostTooLarge) too_large_.erase(too_large_.begin());
    too_large_.push_back(part_core_);
    part_.reset();
    return;
  }
  part_->Apply(std::move(message));
  if (part_->phase() != TimelineModel::Phase::kFailed) return;
  failure_ = part_->status();
  part_loader_.reset();
  part_.reset();
}

bool BigSession::Pump() {
  bool changed = false;
  if (auto answer = tile_loader_.Take()) {
    TakeTiles(*std::move(answer));
    changed = true;
  }
  while (part_loader_ != nullptr) {
    std::optional<LoaderMessage> message = part_loader_->Take();
    if (!message.has_value()) break;
    ApplyPart(*std::move(message));
  }
  return changed;
}

void BigSession::TakeTiles(absl::StatusOr<std::shared_ptr<const TileFrame>> answer) {
  asked_.reset();
  failure_ = answer.status();
  if (answer.ok()) tiles_.Add(*std::move(answer));
}

std::unique_ptr<TimelineModel> BigSession::TakePart() {
  if (part_ == nullptr || part_->phase() != TimelineModel::Phase::kComplete) return nullptr;
  return std::exchange(part_, nullptr);
}

void BigSession::WaitForTiles() {
  if (asked_.has_value()) TakeTiles(tile_loader_.Wait());
}

void BigSession::WaitForPart() {
  while (part_loader_ != nullptr) {
    std::optional<LoaderMessage> message = part_loader_->Wait();
    if (!message.has_value()) return;
    ApplyPart(*std::move(message));
  }
}

}  // namespace nanolane::desktop
