#include "services/collector/delivery/spool_chain.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {

SpoolChain::SpoolChain(Spool& spool, std::string session_id, uint64_t epoch)
    : spool_(spool), key_(std::move(session_id), epoch) {}

SpoolChain::SpoolChain(Spool& spool, std::vector<std::unique_ptr<SpoolFile>> files)
    : spool_(spool), key_(files.front()->session().session_id(), files.front()->epoch()) {
  for (std::unique_ptr<SpoolFile>& file : files) files_.push_back(std::move(file));
  Register();
}

uint64_t SpoolChain::first_sequence() const {
  return files_.empty() ? 0 : files_.front()->first_sequence();
}

uint64_t SpoolChain::last_sequence() const {
  return files_.empty() ? 0 : files_.back()->last_sequence();
}

uint64_t SpoolChain::bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file->bytes();
  return bytes;
}

void SpoolChain::Register() {
  if (files_.empty()) {
    spool_.Forget(key_);
  } else {
    spool_.Hold(key_, {.last_sequence = files_.back()->last_sequence(),
                       .open_end = files_.back()->open_end()});
  }
}

absl::Status SpoolChain::StartFile(uint64_t sequence, const nanolane::trace::v1::Session& session) {
  const std::string path = base::StrCat(spool_.options_.folder, "/", key_.first, "-", key_.second,
                                        "-", absl::StrFormat("%020d", sequence), ".spool");
  const uint64_t bytes = SpoolFile::HeaderBytes(session);
  RETURN_IF_ERROR(spool_.Reserve(bytes));
  auto file = SpoolFile::Create(path, session, key_.second);
  absl::Status status = file.status();
  if (status.ok()) {
    status = spool_.SyncFolder();
    if (!status.ok()) ::unlink(path.c_str());
  }
  if (!status.ok()) {
    spool_.Release(bytes);
    return status;
  }
  files_.push_back(*std::move(file));
  return absl::OkStatus();
}

absl::StatusOr<size_t> SpoolChain::Append(const Requests& requests, uint64_t sent,
                                          nanolane::trace::v1::Session& session) {
  size_t taken = 0;
  absl::Status status;
  while (taken < requests.size() && status.ok()) status = FillFile(requests, sent, taken, session);
  // A file that got no entry is none.
  if (!files_.empty() && files_.back()->first_sequence() == 0) {
    DeleteFile(*files_.back());
    files_.pop_back();
  }
  Register();
  if (taken == 0 && !status.ok()) return status;
  return taken;
}

// Writes requests from `taken` on to the last file until it is full, and syncs it.
absl::Status SpoolChain::FillFile(const Requests& requests, uint64_t sent, size_t& taken,
                                  nanolane::trace::v1::Session& session) {
  const uint64_t file_bytes = spool_.options_.file_bytes;
  if (files_.empty() || files_.back()->bytes() >= file_bytes) {
    RETURN_IF_ERROR(StartFile(requests[taken]->sequence(), session));
  }
  SpoolFile& file = *files_.back();
  uint64_t reserved = 0;
  size_t written = taken;
  absl::Status room;
  for (; written < requests.size() && (written == taken || file.bytes() < file_bytes); ++written) {
    const SpoolFile::Entry entry = {.sequence = requests[written]->sequence(),
                                    .sent = sent,
                                    .request = requests[written]->SerializeAsString()};
    const uint64_t bytes = SpoolFile::EntryBytes(entry.request.size());
    room = spool_.Reserve(bytes);
    if (!room.ok()) break;
    reserved += bytes;
    absl::Status wrote = file.Append(entry);
    if (!wrote.ok()) {  // the file is as it was
      spool_.Release(reserved);
      return wrote;
    }
  }
  if (written == taken) return room;
  absl::Status synced = file.Sync();
  if (!synced.ok()) {
    spool_.Release(reserved);
    return synced;
  }
  for (; taken < written; ++taken) {
    if (requests[taken]->has_session()) session = requests[taken]->session();
  }
  return room;
}

void SpoolChain::DeleteFile(const SpoolFile& file) {
  ::unlink(file.path().c_str());
  spool_.Release(file.bytes());
}

absl::Status SpoolChain::MarkOpenEnd() {
  if (files_.empty() || files_.back()->open_end()) return absl::OkStatus();
  SpoolFile& file = *files_.back();
  RETURN_IF_ERROR(file.Append({.sequence = 0, .sent = SpoolFile::kNoBound, .request = ""}));
  RETURN_IF_ERROR(file.Sync());
  spool_.ReserveAnyway(SpoolFile::EntryBytes(0));
  Register();
  return absl::OkStatus();
}

absl::StatusOr<nanolane::store::v1::AppendRequest> SpoolChain::Read(uint64_t sequence) {
  const auto holds = [sequence](const auto& file) {
    return sequence >= file->first_sequence() && sequence <= file->last_sequence();
  };
  const auto found = std::find_if(files_.begin(), files_.end(), holds);
  if (found == files_.end()) {
    return absl::NotFoundError(base::StrCat("no request ", sequence, " in the spool"));
  }
  const SpoolFile& file = **found;
  if (&file != reading_ || sequence < next_) offset_ = 0;
  reading_ = &file;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<SpoolFile::Entry> entry, file.ReadAt(offset_));
    if (!entry) return absl::DataLossError(base::StrCat(file.path(), " lacks ", sequence));
    if (entry->sequence != sequence) continue;  // one before it, or the mark of an open end
    next_ = sequence + 1;
    nanolane::store::v1::AppendRequest request;
    if (!request.ParseFromString(entry->request)) {
      return absl::DataLossError(base::StrCat(file.path(), " has no request at ", sequence));
    }
    return request;
  }
}

void SpoolChain::ReleaseThrough(uint64_t sequence) {
  bool released = false;
  while (!files_.empty() && files_.front()->last_sequence() <= sequence) {
    if (files_.front().get() == reading_) reading_ = nullptr;
    DeleteFile(*files_.front());
    files_.pop_front();
    released = true;
  }
  if (released) Register();
}

void SpoolChain::Refuse() {
  for (const auto& file : files_) spool_.Refuse(key_, *file);
  files_.clear();
  reading_ = nullptr;
  Register();
  base::MutexLock lock(spool_.mutex_);
  ++spool_.refused_;
}

}  // namespace nanolane::collector
