#include "clients/desktop/model/viewport.h"

#include <algorithm>
#include <cmath>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

// An instant has no span of its own; this much of time around it is shown.
constexpr int64_t kInstantSpanNs = 1'000;

bool Same(const Window& a, const Window& b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

Wide Round(double value) { return static_cast<Wide>(std::floor(value + 0.5)); }

// A window of `span` whose start is near `start`, inside int64.
Window Placed(Wide start, Wide span) {
  constexpr Wide kLow = std::numeric_limits<int64_t>::min();
  constexpr Wide kHigh = std::numeric_limits<int64_t>::max();
  span = std::clamp<Wide>(span, 1, kHigh);
  start = std::clamp<Wide>(start, kLow, kHigh - span);
  return {static_cast<int64_t>(start), static_cast<int64_t>(start + span)};
}

}  // namespace

void Viewport::SetBounds(const Window& bounds) {
  bounds_ = bounds;
  if (bounds_.end_ns <= bounds_.start_ns) bounds_ = Placed(bounds.start_ns, 1);
  ShowAtOnce(Clamped(shown_));
}

void Viewport::SetLive(bool live) {
  live_ = live;
  following_ = following_ && live;
}

void Viewport::Grow(const Window& bounds) {
  const Wide grown = static_cast<Wide>(bounds.end_ns) - bounds_.end_ns;
  bounds_ = bounds;
  if (bounds_.end_ns <= bounds_.start_ns) bounds_ = Placed(bounds.start_ns, 1);
  const Wide by = following_ ? grown : 0;
  const auto moved = [by](const Window& window) {
    return Placed(window.start_ns + by, SpanOf(window));
  };
  // A glide goes on, to where the end is now.
  target_ = Clamped(moved(target_));
  glide_from_ = moved(glide_from_);
  shown_ = gliding_ ? moved(shown_) : target_;
}

void Viewport::FollowEnd() {
  if (!live_) return;
  const Wide span = SpanOf(target_);
  Jump(Placed(static_cast<Wide>(bounds_.end_ns) + span / kEndRoom - span, span));
  following_ = true;
}

bool Viewport::EndInSight() const {
  const Wide room = static_cast<Wide>(target_.end_ns) - bounds_.end_ns;
  return room >= 0 && room * kEndPart <= SpanOf(target_);
}

void Viewport::Open(const Window& window) { ShowAtOnce(Clamped(window)); }

Window Viewport::Clamped(const Window& window) const {
  const Wide extent = SpanOf(bounds_);
  const Wide widest = std::max<Wide>(extent * kMaxZoomOut, kInstantSpanNs);
  const Wide span = std::clamp<Wide>(SpanOf(window), 1, widest);
  // A tenth of the window, or all of the data where that is narrower, stays in sight.
  const Wide kept = std::min<Wide>(extent, span / 10);
  const Wide low = static_cast<Wide>(bounds_.start_ns) + kept - span;
  const Wide high = static_cast<Wide>(bounds_.end_ns) - kept;
  return Placed(std::clamp<Wide>(window.start_ns, low, std::max(low, high)), span);
}

void Viewport::Zoom(double factor, double share) {
  BeginStep(Gesture::kZoom);
  if (following_ && factor > 1) share = 1;
  const Wide old_span = SpanOf(target_);
  Wide span = Round(static_cast<double>(old_span) * factor);
  if (factor < 1) span = std::min(span, old_span - 1);
  if (factor > 1) span = std::max(span, old_span + 1);
  const Wide widest = std::max<Wide>(SpanOf(bounds_) * kMaxZoomOut, kInstantSpanNs);
  span = std::clamp<Wide>(span, 1, widest);
  // What lies under the cursor stays there.
  const Wide start = target_.start_ns + Round(static_cast<double>(old_span - span) * share);
  pan_rest_ns_ = 0;
  ShowAtOnce(Clamped(Placed(start, span)));
  following_ = following_ && EndInSight();
}

void Viewport::Pan(double pixels, double width) {
  if (width <= 0 || pixels == 0) return;
  BeginStep(Gesture::kPan);
  pan_rest_ns_ += pixels / width * static_cast<double>(SpanOf(target_));
  const Wide whole = static_cast<Wide>(pan_rest_ns_);
  pan_rest_ns_ -= static_cast<double>(whole);
  ShowAtOnce(Clamped(Placed(target_.start_ns + whole, SpanOf(target_))));
  FollowEndInSight();
}

void Viewport::Jump(const Window& window) {
  following_ = false;
  const Window clamped = Clamped(window);
  if (Same(clamped, target_)) return;
  BeginStep(Gesture::kJump);
  GlideTo(clamped);
}

void Viewport::JumpToSpan(int64_t start_ns, int64_t end_ns, double margin) {
  Wide span = static_cast<Wide>(end_ns) - start_ns;
  Wide start = start_ns;
  if (span <= 0) {
    span = kInstantSpanNs;
    start -= span / 2;
  }
  const Wide pad = Round(static_cast<double>(span) * margin);
  Jump(Placed(start - pad, span + 2 * pad));
}

bool Viewport::Back() {
  // A gesture at the limit of the zoom has changed nothing: no step for the eye.
  while (!past_.empty() && Same(past_.back(), target_)) past_.pop_back();
  if (past_.empty()) return false;
  future_.push_back(target_);
  GlideTo(past_.back());
  past_.pop_back();
  following_ = false;
  gesture_ = Gesture::kNone;
  return true;
}

bool Viewport::Forward() {
  if (future_.empty()) return false;
  past_.push_back(target_);
  GlideTo(future_.back());
  future_.pop_back();
  following_ = false;
  gesture_ = Gesture::kNone;
  return true;
}

void Viewport::BeginStep(Gesture gesture) {
  touched_ = true;
  const bool goes_on =
      gesture == gesture_ && gesture != Gesture::kJump && now_ns_ - gesture_ns_ < kGesturePauseNs;
  gesture_ = gesture;
  gesture_ns_ = now_ns_;
  if (goes_on) return;
  pan_rest_ns_ = 0;
  future_.clear();
  if (past_.size() == kMaxHistory) past_.erase(past_.begin());
  past_.push_back(target_);
}

void Viewport::ShowAtOnce(const Window& window) {
  shown_ = target_ = window;
  gliding_ = false;
}

void Viewport::GlideTo(const Window& window) {
  glide_from_ = shown_;
  target_ = window;
  glide_start_ns_ = now_ns_;
  gliding_ = true;
}

void Viewport::Tick(int64_t now_ns) {
  now_ns_ = now_ns;
  if (!gliding_) return;
  const double part = static_cast<double>(now_ns - glide_start_ns_) / static_cast<double>(kGlideNs);
  if (part >= 1) {
    ShowAtOnce(target_);
    return;
  }
  const double left = std::pow(1 - std::max(part, 0.0), 3);  // fast first, then settling
  const auto between = [left](int64_t from, int64_t to) {
    return static_cast<Wide>(to) - Round(static_cast<double>(static_cast<Wide>(to) - from) * left);
  };
  const Wide start = between(glide_from_.start_ns, target_.start_ns);
  shown_ = Placed(start, between(glide_from_.end_ns, target_.end_ns) - start);
}

}  // namespace nanolane::desktop
