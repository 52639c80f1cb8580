#include "services/collector/left_captures.h"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "services/collector/process_facts.h"

namespace nanolane::collector {
namespace {

namespace store_v1 = nanolane::store::v1;

// Until processes that are there have registered again, also such as end just then: what they sent
// is still read.
constexpr std::chrono::milliseconds kFirstLook(1'000);
constexpr std::chrono::milliseconds kLookEvery(250);
constexpr std::chrono::seconds kCallDeadline(5);
constexpr char kWhy[] =
    "the process ended while no collector was there: what it had recorded and not handed over is "
    "lost, and how much that is cannot be known";

}  // namespace

LeftCaptures::LeftCaptures(CaptureJournal& journal, const Spool& spool, const Options& options)
    : journal_(journal),
      spool_(spool),
      proc_(options.proc),
      store_(store_v1::StoreService::NewStub(options.store)) {
  for (CaptureJournal::Entry& entry : journal_.Read()) {
    const std::string session_id = entry.session.session_id();
    left_[session_id] = {.entry = std::move(entry)};
  }
  if (!left_.empty()) thread_ = std::thread([this] { Run(); });
}

LeftCaptures::~LeftCaptures() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

std::optional<nanolane::trace::v1::Session> LeftCaptures::TakeOver(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  const auto found = left_.find(session_id);
  if (found == left_.end()) return std::nullopt;
  nanolane::trace::v1::Session session = std::move(found->second.entry.session);
  left_.erase(found);
  return session;
}

void LeftCaptures::HoldsNothing(uint64_t pid) {
  base::MutexLock lock(mutex_);
  for (auto& [session_id, left] : left_) {
    if (left.entry.session.pid() == pid) left.over = true;
  }
}

void LeftCaptures::Run() {
  std::chrono::milliseconds wait = kFirstLook;
  for (;;) {
    std::vector<CaptureJournal::Entry> over;
    {
      base::MutexLock lock(mutex_);
      changed_.WaitFor(mutex_, std::exchange(wait, kLookEvery),
                       [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; });
      if (stopping_ || left_.empty()) return;
      for (auto& [session_id, left] : left_) {
        ProcessFacts facts;
        facts.pid = left.entry.session.pid();
        facts.start_ticks = left.entry.start_ticks;
        if (left.over || !IsAlive(proc_, facts)) over.push_back(left.entry);
      }
    }
    for (const CaptureJournal::Entry& entry : over) {
      const std::string& session_id = entry.session.session_id();
      const absl::Status ended = End(entry);
      if (absl::IsUnavailable(ended)) continue;
      base::LogInfo("collector",
                    base::StrCat("capture ", session_id, " of process ", entry.session.pid(),
                                 ", which was left: ", ended.ok() ? "ended" : ended.ToString()));
      journal_.Remove(session_id);
      TakeOver(session_id);
    }
  }
}

absl::Status LeftCaptures::End(const CaptureJournal::Entry& entry) {
  const std::string& session_id = entry.session.session_id();
  // Its end may be in there.
  if (spool_.HasOlder(session_id, std::numeric_limits<uint64_t>::max())) {
    return absl::UnavailableError("the spool holds more of it");
  }
  const auto retried = [](const absl::Status& status) {
    return absl::IsInvalidArgument(status) ? status : absl::UnavailableError(status.message());
  };
  store_v1::GetSessionResponse known;
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context, kCallDeadline);
    store_v1::GetSessionRequest request;
    request.set_session_id(session_id);
    const absl::Status got = rpc::FromGrpc(store_->GetSession(&context, request, &known));
    if (!got.ok() && !absl::IsNotFound(got)) return retried(got);
    // Nothing was recorded, or nobody has heard of it.
    if (!got.ok() && !entry.has_begun) return absl::OkStatus();
    // The store was away for all of its time: it was begun all the same.
    if (!got.ok()) *known.mutable_summary()->mutable_session() = entry.session;
  }
  if (known.summary().session().ended()) return absl::OkStatus();
  store_v1::AppendRequest last;
  *last.mutable_session() = known.summary().session();
  last.mutable_session()->set_ended(true);
  (*last.mutable_session()->mutable_labels())["capture.end"] = kWhy;
  nanolane::trace::v1::Loss* const loss = last.mutable_session()->add_losses();
  loss->set_reason(base::StrCat(kWhy, " (captures)"));
  loss->set_count(1);
  last.set_epoch(known.epochs().empty() ? 1 : *known.epochs().rbegin());
  grpc::ClientContext context;
  rpc::SetDeadline(context, kCallDeadline);
  const auto stream = store_->Append(&context);
  stream->Write(last);
  stream->WritesDone();
  store_v1::AppendResponse response;
  while (stream->Read(&response)) {
  }
  const absl::Status status = rpc::FromGrpc(stream->Finish());
  return status.ok() ? status : retried(status);
}

}  // namespace nanolane::collector
