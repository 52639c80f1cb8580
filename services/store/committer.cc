#include "services/store/committer.h"

#include <future>
#include <utility>

namespace nanolane::store {
namespace {

// One write batch stays below this, so that a commit's memory and latency are bounded.
constexpr size_t kCommitBytes = 8 << 20;

}  // namespace

Committer::Committer(Store& store) : store_(store), thread_([this] { Run(); }) {}

Committer::~Committer() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.NotifyAll();
  thread_.join();
}

void Committer::Submit(std::string session_id, uint64_t epoch,
                       std::unique_ptr<v1::AppendRequest> request, Done done) {
  {
    base::MutexLock lock(mutex_);
    waiting_.push_back({std::move(session_id), epoch, std::move(request), std::move(done)});
  }
  arrived_.NotifyOne();
}

absl::Status Committer::Delete(const std::string& session_id) {
  std::promise<absl::Status> deleted;
  Submit(session_id, 0, nullptr,
         [&deleted](const absl::Status& status, uint64_t) { deleted.set_value(status); });
  return deleted.get_future().get();
}

void Committer::Run() {
  while (true) {
    std::vector<Pending> batch;
    {
      base::MutexLock lock(mutex_);
      arrived_.Wait(mutex_, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch.swap(waiting_);
    }
    CommitAll(batch);
  }
}

void Committer::CommitAll(std::vector<Pending>& batch) {
  for (size_t from = 0; from < batch.size();) {
    if (batch[from].request == nullptr) {
      batch[from].done(store_.Delete(batch[from].session_id), 0);
      ++from;
      continue;
    }
    std::vector<AppendItem> items;
    size_t bytes = 0;
    size_t to = from;
    for (; to < batch.size() && batch[to].request != nullptr && bytes < kCommitBytes; ++to) {
      bytes += batch[to].request->ByteSizeLong();
      items.push_back({.session_id = batch[to].session_id,
                       .epoch = batch[to].epoch,
                       .request = batch[to].request.get(),
                       .status = absl::OkStatus(),
                       .acknowledged_sequence = 0});
    }
    store_.Commit(items);
    for (size_t i = 0; i < items.size(); ++i) {
      batch[from + i].done(items[i].status, items[i].acknowledged_sequence);
      batch[from + i].request.reset();
    }
    from = to;
  }
}

}  // namespace nanolane::store
