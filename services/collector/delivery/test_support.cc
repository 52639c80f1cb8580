#include "services/collector/delivery/test_support.h"

#include "libs/base/str_cat.h"

namespace nanolane::collector {

using nanolane::trace::v1::Session;

Session SessionNamed(const std::string& id, const std::string& host) {
  Session session;
  session.set_session_id(id);
  session.set_host(host);
  return session;
}

nanolane::store::v1::AppendRequest RequestOf(const std::string& block) {
  nanolane::store::v1::AppendRequest request;
  request.add_blocks(block);
  return request;
}

DeliveryOptions QuickOptions(const FakeStore& store) {
  DeliveryOptions options;
  options.store = store.channel();
  options.memory_bytes = 4'000;
  options.in_flight = 8;
  options.spool_after = std::chrono::milliseconds(10);
  options.stalled_after = std::chrono::milliseconds(200);
  options.retry_least = std::chrono::milliseconds(1);
  options.retry_most = std::chrono::milliseconds(4);
  return options;
}

SpoolOptions SpoolIn(const std::string& folder) {
  return {.folder = folder + "/spool", .bytes = 64 << 20, .file_bytes = 8'000};
}

FakeStore::FakeStore() : address_("unix:" + folder_.path() + "/store") {
  Do(Act::kTake);
  Start();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
}

FakeStore::~FakeStore() { Stop(); }

void FakeStore::Start() {
  if (server_ != nullptr) return;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(16 << 20);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

void FakeStore::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_ = nullptr;
}

void FakeStore::Do(Act act) {
  Do([act](const AppendRequest&) { return act; });
}

void FakeStore::Do(std::function<Act(const AppendRequest&)> script) {
  base::MutexLock lock(mutex_);
  script_ = std::move(script);
}

void FakeStore::BreakStreams() {
  base::MutexLock lock(mutex_);
  for (grpc::ServerContext* context : contexts_) context->TryCancel();
}

std::vector<std::string> FakeStore::Taken(uint64_t epoch, const std::string& session_id) const {
  base::MutexLock lock(mutex_);
  const auto found = taken_.find({session_id, epoch});
  return found == taken_.end() ? std::vector<std::string>() : found->second;
}

Session FakeStore::SessionOf(const std::string& session_id) const {
  base::MutexLock lock(mutex_);
  const auto found = sessions_.find(session_id);
  return found == sessions_.end() ? Session() : found->second;
}

int FakeStore::streams() const {
  base::MutexLock lock(mutex_);
  return streams_;
}

bool FakeStore::WaitMessages(int count) {
  base::MutexLock lock(mutex_);
  return message_came_.WaitFor(mutex_, kSoon,
                               [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return messages_ >= count; });
}

grpc::Status FakeStore::Append(grpc::ServerContext* context,
                               grpc::ServerReaderWriter<AppendResponse, AppendRequest>* stream) {
  {
    base::MutexLock lock(mutex_);
    contexts_.insert(context);
    ++streams_;
  }
  const grpc::Status status = Serve(stream);
  base::MutexLock lock(mutex_);
  contexts_.erase(context);
  return status;
}

grpc::Status FakeStore::Serve(grpc::ServerReaderWriter<AppendResponse, AppendRequest>* stream) {
  std::pair<std::string, uint64_t> key;
  AppendRequest request;
  while (stream->Read(&request)) {
    AppendResponse response;
    Act act = Act::kTake;
    {
      base::MutexLock lock(mutex_);
      ++messages_;
      message_came_.NotifyAll();
      if (key.first.empty()) key = {request.session().session_id(), request.epoch()};
      if (key.first.empty()) {
        return {grpc::StatusCode::INVALID_ARGUMENT, "the first message must name the session"};
      }
      act = script_(request);
      if (act == Act::kTake || act == Act::kTakeAndBreak) {
        uint64_t acknowledged = 0;
        const grpc::Status taken = Take(key, request, acknowledged);
        if (!taken.ok()) return taken;
        response.set_acknowledged_sequence(acknowledged);
      }
    }
    switch (act) {
      case Act::kTake: stream->Write(response); break;
      case Act::kTakeAndBreak:
      case Act::kBreak: return {grpc::StatusCode::UNAVAILABLE, "scripted to break"};
      case Act::kHang:
        while (stream->Read(&request)) {
        }
        return grpc::Status::CANCELLED;
      case Act::kFull: return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the store is full"};
      case Act::kRefuse: return {grpc::StatusCode::INVALID_ARGUMENT, "scripted to refuse"};
    }
  }
  return grpc::Status::OK;
}

grpc::Status FakeStore::Take(const std::pair<std::string, uint64_t>& key,
                             const AppendRequest& request, uint64_t& acknowledged) {
  std::vector<std::string>& taken = taken_[key];
  acknowledged = taken.size();
  if (request.sequence() <= taken.size()) return grpc::Status::OK;
  if (request.sequence() != taken.size() + 1) {
    return {grpc::StatusCode::FAILED_PRECONDITION,
            base::StrCat("sequence ", request.sequence(), " follows ", taken.size())};
  }
  taken.push_back(request.blocks_size() == 0 ? "" : request.blocks(0));
  if (request.has_session()) sessions_[key.first] = request.session();
  acknowledged = taken.size();
  return grpc::Status::OK;
}

grpc::Status FakeStore::GetSession(grpc::ServerContext* /*context*/,
                                   const nanolane::store::v1::GetSessionRequest* request,
                                   nanolane::store::v1::GetSessionResponse* response) {
  base::MutexLock lock(mutex_);
  const auto found = sessions_.find(request->session_id());
  if (found == sessions_.end()) return {grpc::StatusCode::NOT_FOUND, "no such session"};
  *response->mutable_summary()->mutable_session() = found->second;
  for (const auto& [key, taken] : taken_) {
    if (key.first == request->session_id() && !taken.empty()) response->add_epochs(key.second);
  }
  return grpc::Status::OK;
}

}  // namespace nanolane::collector
