#include "services/store/committer.h"

#include <algorithm>
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

void Committer::AddObserver(CommitObserver& observer) {
  base::MutexLock lock(observers_mutex_);
  observers_.push_back(&observer);
}

void Committer::RemoveObserver(CommitObserver& observer) {
  base::MutexLock lock(observers_mutex_);
  std::erase(observers_, &observer);
}

bool Committer::AskForRoom(std::function<void()> resume) {
  base::MutexLock lock(mutex_);
  if (waiting_bytes_ < kWaitingBytes) return true;
  without_room_.push_back(std::move(resume));
  return false;
}

void Committer::Enqueue(Pending pending) {
  {
    base::MutexLock lock(mutex_);
    waiting_bytes_ += pending.bytes;
    waiting_.push_back(std::move(pending));
  }
  arrived_.NotifyOne();
}

void Committer::Submit(std::string session_id, uint64_t epoch,
                       std::unique_ptr<v1::AppendRequest> request, Done done) {
  const size_t bytes = request->ByteSizeLong();
  Enqueue({.session_id = std::move(session_id),
           .epoch = epoch,
           .request = std::move(request),
           .work = nullptr,
           .done = std::move(done),
           .bytes = bytes});
}

absl::Status Committer::RunExclusive(const std::string& changed_session,
                                     std::function<absl::Status()> work) {
  std::promise<absl::Status> done;
  Enqueue({.session_id = changed_session,
           .epoch = 0,
           .request = nullptr,
           .work = std::move(work),
           .done = [&done](const absl::Status& status, uint64_t) { done.set_value(status); },
           .bytes = 0});
  return done.get_future().get();
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
    if (batch[from].request != nullptr) {
      from = CommitSome(batch, from);
      continue;
    }
    const absl::Status status = batch[from].work();
    if (status.ok() && !batch[from].session_id.empty()) Tell({batch[from].session_id});
    batch[from].done(status, 0);
    ++from;
  }
}

// Commits appends from `from` on, as many as one write may carry; returns what comes after them.
size_t Committer::CommitSome(std::vector<Pending>& batch, size_t from) {
  std::vector<AppendItem> items;
  size_t bytes = 0;
  size_t to = from;
  for (; to < batch.size() && batch[to].request != nullptr && bytes < kCommitBytes; ++to) {
    bytes += batch[to].bytes;
    items.push_back({.session_id = batch[to].session_id,
                     .epoch = batch[to].epoch,
                     .request = batch[to].request.get(),
                     .status = absl::OkStatus(),
                     .acknowledged_sequence = 0});
  }
  store_.Commit(items);
  std::vector<std::string> changed;
  for (size_t i = 0; i < items.size(); ++i) {
    batch[from + i].done(items[i].status, items[i].acknowledged_sequence);
    batch[from + i].request.reset();
    if (items[i].status.ok()) changed.push_back(std::move(items[i].session_id));
  }
  Release(bytes);
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  Tell(changed);
  return to;
}

void Committer::Tell(const std::vector<std::string>& sessions) {
  base::MutexLock lock(observers_mutex_);
  for (CommitObserver* observer : observers_) {
    for (const std::string& session : sessions) observer->OnCommitted(session);
  }
}

void Committer::Release(size_t bytes) {
  std::vector<std::function<void()>> resumed;
  {
    base::MutexLock lock(mutex_);
    waiting_bytes_ -= bytes;
    if (waiting_bytes_ < kWaitingBytes) resumed.swap(without_room_);
  }
  for (const std::function<void()>& resume : resumed) resume();
}

}  // namespace nanolane::store
