#include "services/store/sealer.h"

#include <algorithm>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::store {

Sealer::Sealer(Store& store, Committer& committer, const SealOptions& options)
    : store_(store), committer_(committer), keep_log_(options.keep_log_ns) {
  // What a former process left unsealed, before anything new is committed.
  auto sessions = store_.SessionsToTend();
  if (sessions.ok()) {
    waiting_.insert(sessions->begin(), sessions->end());
    for (const std::string& id : *sessions) trims_.try_emplace(id, Clock::now() + keep_log_);
  } else {
    base::LogError("store",
                   base::StrCat("looking for what to seal: ", sessions.status().message()));
  }
  committer_.AddObserver(*this);
  thread_ = std::thread([this] { Run(); });
}

Sealer::~Sealer() {
  committer_.RemoveObserver(*this);
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Sealer::OnCommitted(const std::string& session_id) {
  {
    base::MutexLock lock(mutex_);
    waiting_.insert(session_id);
    trims_.try_emplace(session_id, Clock::now() + keep_log_);
  }
  changed_.NotifyAll();
}

void Sealer::WaitIdle() {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stopping_ || (waiting_.empty() && !working_);
  });
}

bool Sealer::Take(std::string& session_id, bool& trim) {
  base::MutexLock lock(mutex_);
  working_ = false;
  changed_.NotifyAll();
  while (!stopping_) {
    if (!waiting_.empty()) {
      session_id = std::move(waiting_.extract(waiting_.begin()).value());
      trim = false;
      working_ = true;
      return true;
    }
    const auto due =
        std::min_element(trims_.begin(), trims_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto woken = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return stopping_ || !waiting_.empty();
    };
    if (due == trims_.end()) {
      changed_.Wait(mutex_,
                    [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return woken() || !trims_.empty(); });
    } else if (due->second <= Clock::now()) {
      session_id = due->first;
      trims_.erase(due);
      trim = true;
      return true;
    } else {
      changed_.WaitFor(mutex_, due->second - Clock::now(), woken);
    }
  }
  return false;
}

void Sealer::Run() {
  std::string session_id;
  bool trim = false;
  while (Take(session_id, trim)) {
    if (trim) {
      Trim(session_id);
    } else {
      SealAll(session_id);
    }
  }
}

void Sealer::SealAll(const std::string& session_id) {
  while (true) {
    {
      base::MutexLock lock(mutex_);
      if (stopping_) return;
    }
    auto prepared = store_.PrepareSeal(session_id);
    absl::Status status = prepared.status();
    if (status.ok()) {
      if (*prepared == nullptr) return;
      status = committer_.RunExclusive(session_id, [&] { return store_.PublishSeal(**prepared); });
    }
    if (status.ok()) continue;
    // Nothing is lost: the session stays as it was, and its next commit or the next start tries
    // again. One that was deleted meanwhile is no error.
    if (!absl::IsNotFound(status)) {
      base::LogError("store", base::StrCat("sealing session ", session_id, ": ", status.message()));
    }
    return;
  }
}

void Sealer::Trim(const std::string& session_id) {
  LogLeft left = LogLeft::kOld;
  absl::Status status;
  // Piece by piece: appends have their turn between.
  while (status.ok() && left == LogLeft::kOld) {
    {
      base::MutexLock lock(mutex_);
      if (stopping_) return;
    }
    status = committer_.RunExclusive(/*changed_session=*/"", [&]() -> absl::Status {
      ASSIGN_OR_RETURN(left, store_.TrimLog(session_id));
      return absl::OkStatus();
    });
  }
  if (!status.ok() && !absl::IsNotFound(status)) {
    base::LogError("store",
                   base::StrCat("trimming the log of ", session_id, ": ", status.message()));
  }
  store_.ReclaimTrimmed();
  if (!status.ok() || left == LogLeft::kNothing) return;
  base::MutexLock lock(mutex_);
  trims_.try_emplace(session_id, Clock::now() + keep_log_);
}

}  // namespace nanolane::store
