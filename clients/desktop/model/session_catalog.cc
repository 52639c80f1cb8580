#include "clients/desktop/model/session_catalog.h"

#include <algorithm>
#include <utility>

#include "clients/desktop/model/facts_from_proto.h"

namespace nanolane::desktop {
namespace {

constexpr auto kDeadline = std::chrono::seconds(10);
constexpr int kPage = 1'000;

// Kinds that a device does; the rest of the kinds say what the process did.
bool IsDeviceWork(trace::v1::EventKind kind) {
  return kind == trace::v1::EVENT_KIND_KERNEL || kind == trace::v1::EVENT_KIND_MEMCPY ||
         kind == trace::v1::EVENT_KIND_MEMSET;
}

absl::Status StatusOf(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace

absl::StatusOr<std::vector<SessionFacts>> ListAllSessions(
    const std::function<grpc::Status(const query::v1::ListSessionsRequest&,
                                     query::v1::ListSessionsResponse&)>& list) {
  std::vector<SessionFacts> sessions;
  query::v1::ListSessionsRequest request;
  request.set_page_size(kPage);
  do {
    query::v1::ListSessionsResponse response;
    const grpc::Status status = list(request, response);
    if (!status.ok()) return StatusOf(status);
    for (const auto& summary : response.sessions()) sessions.push_back(FactsOf(summary));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return sessions;
}

query::v1::GetDensityRequest RequestOf(const DensityQuestion& question) {
  query::v1::GetDensityRequest request;
  for (const std::string& id : question.session_ids) request.mutable_scope()->add_session_ids(id);
  request.mutable_window()->set_start_ns(question.window.start_ns);
  request.mutable_window()->set_end_ns(question.window.end_ns);
  request.set_max_bins(question.bins);
  return request;
}

std::vector<DensityLayer> LayersOf(const query::v1::GetDensityResponse& response) {
  std::vector<DensityLayer> layers;
  for (const trace::v1::DensityLayer& from : response.layers()) {
    DensityLayer& layer = layers.emplace_back();
    layer.level = from.level();
    for (const trace::v1::DensityBin& bin : from.bins()) {
      DensityBin facts{.index = bin.index(), .events = 0, .busy_ns = 0, .losses = bin.losses()};
      for (const trace::v1::DensityCell& cell : bin.cells()) {
        facts.events += cell.events();
        if (IsDeviceWork(cell.kind())) facts.busy_ns += cell.busy_ns();
      }
      layer.bins.push_back(facts);
    }
  }
  return layers;
}

SessionCatalog::SessionCatalog(std::shared_ptr<grpc::Channel> channel, CatalogOptions options)
    : options_(std::move(options)),
      stub_(query::v1::QueryService::NewStub(std::move(channel))),
      sessions_(std::make_shared<const CatalogSnapshot>()),
      thread_([this] { Run(); }) {}

SessionCatalog::~SessionCatalog() {
  {
    base::MutexLock lock(mutex_);
    cancelled_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  changed_.NotifyAll();
  thread_.join();
}

std::shared_ptr<const CatalogSnapshot> SessionCatalog::sessions() const {
  base::MutexLock lock(mutex_);
  return sessions_;
}

std::shared_ptr<const DensityAnswer> SessionCatalog::density() const {
  base::MutexLock lock(mutex_);
  return density_;
}

void SessionCatalog::SetEager(bool eager) {
  {
    base::MutexLock lock(mutex_);
    if (eager_ == eager) return;
    eager_ = eager;
  }
  changed_.NotifyAll();
}

void SessionCatalog::Ask(DensityQuestion question) {
  {
    base::MutexLock lock(mutex_);
    if (question_.has_value() && *question_ == question) return;
    question_ = std::move(question);
    asked_ = true;
  }
  changed_.NotifyAll();
}

SessionCatalog::Next SessionCatalog::WaitForWork() {
  using Clock = std::chrono::steady_clock;
  base::MutexLock lock(mutex_);
  while (!cancelled_) {
    const bool eager = eager_;
    const auto pause = pause_.count() > 0 ? pause_ : eager ? options_.eager : options_.calm;
    const Clock::time_point due =
        sessions_->version == 0 && pause_.count() == 0 ? Clock::now() : read_at_ + pause;
    if (Clock::now() >= due) return Next::kSessions;
    if (asked_ && pause_.count() == 0) return Next::kDensity;
    changed_.WaitFor(mutex_, due - Clock::now(), [this, eager]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return cancelled_ || eager_ != eager || (asked_ && pause_.count() == 0);
    });
  }
  return Next::kEnd;
}

void SessionCatalog::Run() {
  while (true) {
    switch (WaitForWork()) {
      case Next::kEnd: return;
      case Next::kSessions: {
        const bool read = ReadSessions();
        const auto doubled = std::max(pause_ * 2, options_.first_pause);
        pause_ = read ? std::chrono::nanoseconds(0) : std::min(doubled, options_.longest_pause);
        read_at_ = std::chrono::steady_clock::now();
        break;
      }
      case Next::kDensity: {
        if (ReadDensity()) break;
        pause_ = options_.first_pause;
        read_at_ = std::chrono::steady_clock::now();
        break;
      }
    }
    options_.on_change();
  }
}

grpc::Status SessionCatalog::Call(const std::function<grpc::Status(grpc::ClientContext&)>& call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  {
    base::MutexLock lock(mutex_);
    if (cancelled_) return grpc::Status::CANCELLED;
    call_ = &context;
  }
  grpc::Status status = call(context);
  base::MutexLock lock(mutex_);
  call_ = nullptr;
  return status;
}

bool SessionCatalog::ReadSessions() {
  auto listed = ListAllSessions([this](const auto& request, auto& response) {
    return Call([&](grpc::ClientContext& context) {
      return stub_->ListSessions(&context, request, &response);
    });
  });
  auto next = std::make_shared<CatalogSnapshot>(*sessions());
  next->failure = listed.status();
  if (listed.ok()) {
    ++next->version;
    next->sessions = *std::move(listed);
  }
  base::MutexLock lock(mutex_);
  sessions_ = std::move(next);
  return listed.ok();
}

bool SessionCatalog::ReadDensity() {
  auto answer = std::make_shared<DensityAnswer>();
  {
    base::MutexLock lock(mutex_);
    asked_ = false;
    answer->question = *question_;
  }
  query::v1::GetDensityResponse response;
  const grpc::Status status = Call([&](grpc::ClientContext& context) {
    return stub_->GetDensity(&context, RequestOf(answer->question), &response);
  });
  base::MutexLock lock(mutex_);
  if (status.ok()) {
    answer->layers = LayersOf(response);
    density_ = std::move(answer);
  } else if (!asked_) {
    question_.reset();  // the next frame asks again
  }
  return status.ok();
}

}  // namespace nanolane::desktop
