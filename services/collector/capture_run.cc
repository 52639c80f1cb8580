#include "services/collector/capture_run.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/wire.h"
#include "services/collector/capture_kinds.h"
#include "services/collector/delivery/stored_sequence.h"
#include "services/collector/session/losses.h"

namespace nanolane::collector {
namespace {

using nanolane::store::v1::AppendRequest;
using nanolane::trace::v1::Loss;
using nanolane::trace::v1::Session;

constexpr std::chrono::milliseconds kReadEvery(20);
constexpr int64_t kCutEveryNs = 100'000'000;
constexpr int64_t kTellSessionEveryNs = 1'000'000'000;

std::string_view StopText(wire::StopReason reason) {
  switch (reason) {
    case wire::StopReason::kNone: return "";
    case wire::StopReason::kAsked: return "ended on request";
    case wire::StopReason::kDeadline: return "its time was over";
    case wire::StopReason::kProcessExit: return "the process ended";
    case wire::StopReason::kCuptiFailed: return "CUPTI failed in the process";
    case wire::StopReason::kOtherTool:
      return "another tool (torch.profiler) began to record in the process, and was made way for";
  }
  return "";
}

uint64_t Total(const std::vector<Loss>& losses) {
  uint64_t total = 0;
  for (const Loss& loss : losses) total += loss.count();
  return total;
}

void SetDuration(int64_t ns, google::protobuf::Duration& duration) {
  duration.set_seconds(ns / 1'000'000'000);
  duration.set_nanos(static_cast<int32_t>(ns % 1'000'000'000));
}

absl::Status NoAnswer() {
  return absl::DeadlineExceededError(
      "the process does not answer: it may be stopped, or CUPTI waits for kernels that run; try "
      "again");
}

}  // namespace

CaptureRun::CaptureRun(RunOptions options, std::unique_ptr<RingMemory> ring)
    : options_(std::move(options)),
      session_id_(options_.session.session_id()),
      pid_(options_.session.pid()),
      executable_(options_.session.executable()),
      offset_ns_(options_.clock->UnixNanos() - options_.clock->MonotonicNanos()),
      ring_descriptor_(ring->descriptor()),
      session_(options_.session),
      ring_(std::move(ring)) {
  thread_ = std::thread([this] { Run(); });
}

CaptureRun::~CaptureRun() {
  {
    base::MutexLock lock(mutex_);
    leaving_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void CaptureRun::OnStarted(const wire::Started& started) {
  base::MutexLock lock(mutex_);
  if (progress_.state != v1::CAPTURE_STATE_STARTING) return;
  progress_.state = v1::CAPTURE_STATE_RECORDING;
  progress_.on_ns = started.on_ns;
  progress_.started_unix_ns = options_.clock->UnixNanos();
  progress_.kinds_on = started.kinds & wire::kAllKinds;
  ++progress_.version;
  changed_.NotifyAll();
}

void CaptureRun::OnRefused(const std::string& why) {
  base::MutexLock lock(mutex_);
  if (progress_.state != v1::CAPTURE_STATE_STARTING) return;
  failure_ = absl::FailedPreconditionError(base::ToAbsl(why));
  changed_.NotifyAll();
}

void CaptureRun::OnStopped() {
  base::MutexLock lock(mutex_);
  progress_.stopped = true;
  changed_.NotifyAll();
}

void CaptureRun::OnProcessGone() {
  base::MutexLock lock(mutex_);
  progress_.gone = true;
  changed_.NotifyAll();
}

void CaptureRun::AskToStop() {
  {
    base::MutexLock lock(mutex_);
    if (stop_asked_ || progress_.stopped) return;
    stop_asked_ = true;
  }
  options_.ask_to_stop();
}

bool CaptureRun::ended() const {
  base::MutexLock lock(mutex_);
  return progress_.state == v1::CAPTURE_STATE_DONE || progress_.state == v1::CAPTURE_STATE_FAILED;
}

uint32_t CaptureRun::kinds_on() const {
  base::MutexLock lock(mutex_);
  return progress_.kinds_on;
}

v1::CaptureStatus CaptureRun::status() const {
  base::MutexLock lock(mutex_);
  return StatusLocked();
}

v1::CaptureStatus CaptureRun::StatusLocked() const {
  v1::CaptureStatus status;
  status.set_session_id(session_id_);
  status.set_pid(pid_);
  status.set_executable(executable_);
  status.set_state(progress_.state);
  status.set_message(progress_.message);
  if (progress_.started_unix_ns != 0) {
    status.mutable_start_time()->set_seconds(progress_.started_unix_ns / 1'000'000'000);
    status.mutable_start_time()->set_nanos(
        static_cast<int32_t>(progress_.started_unix_ns % 1'000'000'000));
  }
  SetDuration(options_.duration_ns, *status.mutable_duration());
  if (progress_.on_ns != 0) {
    const int64_t end = progress_.off_ns != 0 ? progress_.off_ns : options_.clock->MonotonicNanos();
    // What a process says of its times may be anything.
    const auto elapsed =
        static_cast<int64_t>(static_cast<uint64_t>(end) - static_cast<uint64_t>(progress_.on_ns));
    SetDuration(std::clamp<int64_t>(elapsed, 0, options_.duration_ns), *status.mutable_elapsed());
  }
  for (size_t kind = 0; kind < progress_.counts.events.size(); ++kind) {
    if (progress_.counts.events[kind] == 0) continue;
    auto* const count = status.add_by_kind();
    count->set_kind(trace::ToProto(static_cast<trace::EventKind>(kind)));
    count->set_count(progress_.counts.events[kind]);
  }
  status.set_safe_events(progress_.safe_events);
  for (const Loss& loss : progress_.losses) *status.add_losses() = loss;
  status.set_spooled_bytes(progress_.spooled_bytes);
  for (const std::string& note : progress_.notes) status.add_notes(note);
  return status;
}

absl::Status CaptureRun::WaitStarted(std::chrono::milliseconds timeout) {
  base::MutexLock lock(mutex_);
  const bool decided = changed_.WaitFor(mutex_, timeout, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !failure_.ok() || progress_.known || progress_.gone;
  });
  if (!failure_.ok()) return failure_;
  if (!decided) {
    return NoAnswer();
  }
  if (!progress_.known) return absl::UnavailableError("the process has ended");
  return absl::OkStatus();
}

v1::CaptureStatus CaptureRun::WaitChange(uint64_t& version,
                                         std::chrono::milliseconds timeout) const {
  base::MutexLock lock(mutex_);
  changed_.WaitFor(mutex_, timeout, [this, version]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return progress_.version != version;
  });
  version = progress_.version;
  return StatusLocked();
}

bool CaptureRun::Sleep(std::chrono::milliseconds time) {
  base::MutexLock lock(mutex_);
  const bool was_stopped = progress_.stopped;
  const bool was_gone = progress_.gone;
  changed_.WaitFor(mutex_, time, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return leaving_ || progress_.stopped != was_stopped || progress_.gone != was_gone;
  });
  return !leaving_;
}

void CaptureRun::SetState(v1::CaptureState state, const std::string& message) {
  base::MutexLock lock(mutex_);
  progress_.state = state;
  if (!message.empty()) progress_.message = message;
  ++progress_.version;
  changed_.NotifyAll();
}

void CaptureRun::Fail(const absl::Status& why) {
  base::LogError("collector", base::StrCat("capture ", session_id_, " of process ", pid_,
                                           " failed: ", why.message()));
  options_.forget();
  {
    base::MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = why;
    progress_.state = v1::CAPTURE_STATE_FAILED;
    progress_.message = std::string(why.message());
    ++progress_.version;
    changed_.NotifyAll();
  }
  // What the process records from now on nobody takes.
  options_.ask_to_stop();
  options_.release();
}

void CaptureRun::Run() {
  if (options_.old_epoch == 0) AskToStart();
  if (!WaitForStart()) return;
  // Before the store hears of it.
  options_.remember(session_, true);
  const absl::Status opened = OpenDelivery();
  if (absl::IsCancelled(opened)) return;
  if (!opened.ok()) return Fail(opened);
  Drain();
}

void CaptureRun::AskToStart() {
  // Before the process hears of it: whoever takes its ring over knows whose it is.
  options_.remember(session_, false);
  const absl::Status asked = options_.ask_to_start(ring_descriptor_);
  if (!asked.ok()) OnRefused(std::string(asked.message()));
}

bool CaptureRun::WaitForStart() {
  if (options_.old_epoch != 0) {
    const RingStatus ring = ReadStatus(ring_->header());
    base::MutexLock lock(mutex_);
    progress_.state =
        options_.was_recording ? v1::CAPTURE_STATE_RECORDING : v1::CAPTURE_STATE_DRAINING;
    progress_.stopped = !options_.was_recording;
    progress_.on_ns = ring.on_ns;
    progress_.started_unix_ns = ring.on_ns + offset_ns_;
    progress_.kinds_on = ring.kinds_on;
    progress_.known = true;
    return true;
  }
  base::MutexLock lock(mutex_);
  const bool answered =
      changed_.WaitFor(mutex_, options_.times.start, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return leaving_ || !failure_.ok() || progress_.gone ||
               progress_.state != v1::CAPTURE_STATE_STARTING;
      });
  if (answered && progress_.state == v1::CAPTURE_STATE_RECORDING) return true;
  if (leaving_) return false;
  options_.forget();
  if (failure_.ok()) {
    failure_ = progress_.gone ? absl::UnavailableError("the process has ended") : NoAnswer();
  }
  progress_.state = v1::CAPTURE_STATE_FAILED;
  progress_.message = std::string(failure_.message());
  ++progress_.version;
  changed_.NotifyAll();
  return false;
}

// For an adopted ring: learns how much of it is stored, which only the store may know.
absl::Status CaptureRun::OpenDelivery() {
  uint64_t epoch = 1;
  reader_ = std::make_unique<RingReader>(*ring_);
  if (options_.old_epoch != 0) {
    const auto stub = nanolane::store::v1::StoreService::NewStub(options_.delivery.store);
    for (;;) {
      const absl::StatusOr<uint64_t> stored =
          StoredSequence(*options_.spool, *stub, session_id_, options_.old_epoch);
      if (stored.ok()) {
        epoch = options_.old_epoch + 1;
        RETURN_IF_ERROR(RecallSession(*stub));
        reader_->Adopt(*stored, epoch);
        break;
      }
      if (absl::IsInvalidArgument(stored.status())) return stored.status();
      base::LogWarning("collector", base::StrCat("capture ", session_id_, " waits for the store: ",
                                                 stored.status().message()));
      if (!Sleep(options_.times.store_retry)) return absl::CancelledError();
    }
  }
  batch_ = std::make_unique<Batch>(
      *reader_, BuilderOptions{.kinds = ring_->kinds(), .is_resumed = options_.old_epoch != 0});
  ASSIGN_OR_RETURN(delivery_,
                   Delivery::Open(*options_.spool, options_.delivery, SessionNow(), epoch));
  // The store hears of the session before its first event: whoever asked for it may look at once.
  if (options_.old_epoch == 0) {
    ASSIGN_OR_RETURN(last_sequence_, delivery_->Push(AppendRequest()));
    delivery_->WaitDelivered(options_.times.first_append);
  }
  base::MutexLock lock(mutex_);
  progress_.known = true;
  ++progress_.version;
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status CaptureRun::RecallSession(nanolane::store::v1::StoreService::StubInterface& store) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  nanolane::store::v1::GetSessionRequest request;
  request.set_session_id(session_id_);
  nanolane::store::v1::GetSessionResponse response;
  const absl::Status got = rpc::FromGrpc(store.GetSession(&context, request, &response));
  // Where it is still in the spool, what the process says of itself has to do.
  if (!got.ok()) return absl::OkStatus();
  const Session& known = response.summary().session();
  if (known.pid() != session_.pid() || known.host() != session_.host()) {
    return absl::PermissionDeniedError("a process offers another process's session");
  }
  session_.set_project(known.project());
  session_.set_rule_id(known.rule_id());
  for (const auto& [key, value] : known.labels()) {
    if (key.rfind("capture.", 0) != 0) (*session_.mutable_labels())[key] = value;
  }
  for (const Loss& loss : known.losses()) {
    if (!IsCountedInRing(loss.reason())) losses_before_.push_back(loss);
  }
  (*session_.mutable_labels())["capture.resumed"] = "by a collector that started anew";
  return absl::OkStatus();
}

std::vector<Loss> CaptureRun::LossesSoFar() const {
  std::vector<Loss> losses = Losses(*reader_, batch_->builder());
  for (const Loss& before : losses_before_) {
    const auto same = std::find_if(losses.begin(), losses.end(), [&before](const Loss& loss) {
      return loss.kind() == before.kind() && loss.reason() == before.reason();
    });
    if (same == losses.end()) {
      losses.push_back(before);
    } else {
      same->set_count(same->count() + before.count());
    }
  }
  return losses;
}

Session CaptureRun::SessionNow() {
  Session session = session_;
  session.mutable_clock()->set_unix_offset_ns(offset_ns_);
  session.mutable_clock()->set_unix_offset_known(true);
  const RingStatus ring = reader_->status();
  auto& labels = *session.mutable_labels();
  if (ring.on_ns != 0) labels["capture.on_ns"] = base::StrCat(ring.on_ns);
  if (ring.off_ns != 0) labels["capture.off_ns"] = base::StrCat(ring.off_ns);
  if (ring.kinds_on != 0) labels["capture.kinds"] = KindNames(ring.kinds_on);
  if (ring.cupti_version != 0) labels["capture.cupti"] = base::StrCat(ring.cupti_version);
  if (batch_ == nullptr) return session;
  batch_->builder().FillSession(session);
  const std::vector<std::string>& notes = batch_->builder().notes();
  for (size_t i = 0; i < notes.size(); ++i) {
    labels[base::StrCat("capture.note.", i + 1)] = notes[i];
  }
  for (const Loss& loss : LossesSoFar()) *session.add_losses() = loss;
  for (const Loss& odd : Oddities(batch_->builder())) *session.add_left_out() = odd;
  return session;
}

absl::StatusOr<bool> CaptureRun::FillBatch() {
  bool more = false;
  // A full batch is cut first.
  if (!waiting_.empty()) return false;
  batch_->builder().SetStart(reader_->status().on_ns);
  ASSIGN_OR_RETURN(more, batch_->Fill(options_.clock->MonotonicNanos()));
  return more;
}

absl::Status CaptureRun::CutBatch() {
  last_cut_ns_ = options_.clock->MonotonicNanos();
  const uint64_t lost = Total(LossesSoFar());
  const bool tell_session =
      lost != losses_told_ && last_cut_ns_ - last_session_ns_ >= kTellSessionEveryNs;
  if (batch_->empty() && !tell_session) return absl::OkStatus();
  ASSIGN_OR_RETURN(ingest::BlockBuilder::Appends appends, batch_->Cut());
  if (appends.empty()) appends.emplace_back();
  if (tell_session) {
    *appends.back().mutable_session() = SessionNow();
    auto* const timed = appends.back().add_losses();
    timed->set_count(lost - std::min(lost, losses_told_));
    timed->set_session_ns(last_cut_ns_);
    losses_told_ = lost;
    last_session_ns_ = last_cut_ns_;
  }
  events_pushed_ += batch_->events();
  const uint64_t sequence = delivery_->pushed_sequence() + appends.size();
  batch_->MarkAll(sequence);
  pushed_.emplace_back(sequence, events_pushed_);
  for (AppendRequest& append : appends) waiting_.push_back(std::move(append));
  return absl::OkStatus();
}

absl::StatusOr<bool> CaptureRun::PushWaiting() {
  while (!waiting_.empty()) {
    AppendRequest next = waiting_.front();
    const absl::StatusOr<uint64_t> pushed = delivery_->Push(std::move(next));
    if (absl::IsResourceExhausted(pushed.status())) return false;
    RETURN_IF_ERROR(pushed.status());
    last_sequence_ = *pushed;
    waiting_.pop_front();
  }
  return true;
}

void CaptureRun::UpdateProgress() {
  reader_->UpdateCounters();
  const uint64_t safe = delivery_->safe_sequence();
  reader_->SetSafe(safe);
  uint64_t safe_events = 0;
  while (!pushed_.empty() && pushed_.front().first <= safe) {
    safe_events = pushed_.front().second;
    pushed_.pop_front();
  }
  const RingStatus ring = reader_->status();
  std::vector<Loss> losses = LossesSoFar();
  base::MutexLock lock(mutex_);
  const bool changed = progress_.counts.events != batch_->builder().counts().events ||
                       (safe_events != 0 && safe_events != progress_.safe_events) ||
                       Total(losses) != Total(progress_.losses);
  progress_.counts = batch_->builder().counts();
  progress_.losses = std::move(losses);
  progress_.notes = batch_->builder().notes();
  progress_.kinds_on = ring.kinds_on;
  progress_.off_ns = ring.off_ns;
  if (safe_events != 0) progress_.safe_events = safe_events;
  progress_.spooled_bytes = delivery_->spooled_bytes();
  if (ring.state == wire::RingState::kStopped && progress_.state == v1::CAPTURE_STATE_RECORDING) {
    progress_.state = v1::CAPTURE_STATE_DRAINING;
    progress_.message = std::string(StopText(ring.stop_reason));
  }
  if (!changed) return;
  ++progress_.version;
  changed_.NotifyAll();
}

void CaptureRun::Drain() {
  const int64_t end_patience_ns = std::chrono::nanoseconds(options_.times.end).count();
  int64_t over_since_ns = 0;
  // By the collector's own clock: what the ring says of its beginning is the process's word.
  const int64_t begun_ns = options_.clock->MonotonicNanos();
  for (;;) {
    absl::StatusOr<bool> more = FillBatch();
    if (!more.ok()) return Fail(more.status());
    const int64_t now = options_.clock->MonotonicNanos();
    const bool read_all = !*more && waiting_.empty();
    bool stopped = false;
    bool gone = false;
    {
      base::MutexLock lock(mutex_);
      stopped = progress_.stopped;
      gone = progress_.gone;
    }
    const bool overdue = now - begun_ns > options_.duration_ns + 1'000'000'000;
    if (overdue) AskToStop();
    if ((stopped || gone || overdue) && over_since_ns == 0) over_since_ns = now;
    const bool patience_is_over = over_since_ns != 0 && now - over_since_ns > end_patience_ns;
    const bool at_end = read_all && (reader_->Finished() || gone || patience_is_over);
    if (at_end) {
      const absl::Status finished = batch_->Finish();
      if (!finished.ok()) return Fail(finished);
    }
    if (at_end || *more || now - last_cut_ns_ >= kCutEveryNs) {
      if (waiting_.empty()) {
        const absl::Status cut = CutBatch();
        if (!cut.ok()) return Fail(cut);
      }
    }
    const absl::StatusOr<bool> pushed = PushWaiting();
    if (!pushed.ok()) return Fail(pushed.status());
    UpdateProgress();
    if (const absl::Status refused = delivery_->failure(); !refused.ok()) return Fail(refused);
    if (at_end && *pushed) {
      const absl::Status ended = EndSession();
      if (absl::IsCancelled(ended)) return;
      if (!ended.ok()) return Fail(ended);
      return;
    }
    if (*more && *pushed) continue;
    if (!Sleep(kReadEvery)) return;
  }
}

absl::Status CaptureRun::EndSession() {
  reader_->UpdateCounters();
  Session session = SessionNow();
  const RingStatus ring = reader_->status();
  bool gone = false;
  {
    base::MutexLock lock(mutex_);
    gone = progress_.gone;
  }
  std::string message(StopText(ring.stop_reason));
  if (ring.state != wire::RingState::kStopped) {
    message = gone ? "the process ended while it was recorded: what CUPTI had not handed over is "
                     "lost, and how much that is cannot be known"
                   : "the process did not say how its capture ended";
    Loss* const loss = session.add_losses();
    loss->set_reason(base::StrCat(message, " (captures)"));
    loss->set_count(1);
  }
  (*session.mutable_labels())["capture.end"] = message;
  for (;;) {
    const absl::Status finished = delivery_->Finish(session);
    if (finished.ok()) break;
    if (!absl::IsResourceExhausted(finished)) return finished;
    if (!Sleep(kReadEvery)) return absl::CancelledError();
  }
  reader_->SetSafe(delivery_->safe_sequence());
  // While the process still has its ring: whoever finds the entry gone finds the end.
  options_.forget();
  // Safe in the store or the spool: the process may let go of its ring.
  options_.release();
  UpdateProgress();
  {
    base::MutexLock lock(mutex_);
    progress_.losses.assign(session.losses().begin(), session.losses().end());
    progress_.safe_events = events_pushed_;
  }
  SetState(v1::CAPTURE_STATE_DRAINING, message);
  while (!delivery_->WaitDelivered(std::chrono::seconds(1))) {
    if (const absl::Status refused = delivery_->failure(); !refused.ok()) return refused;
    {
      base::MutexLock lock(mutex_);
      progress_.spooled_bytes = delivery_->spooled_bytes();
      if (leaving_) return absl::CancelledError();
      ++progress_.version;
      changed_.NotifyAll();
    }
  }
  {
    base::MutexLock lock(mutex_);
    progress_.spooled_bytes = 0;
  }
  base::LogInfo("collector", base::StrCat("capture ", session_id_, " of process ", pid_,
                                          " done: ", events_pushed_, " events, ",
                                          Total(LossesSoFar()), " lost; ", message));
  SetState(v1::CAPTURE_STATE_DONE, message);
  return absl::OkStatus();
}

}  // namespace nanolane::collector
