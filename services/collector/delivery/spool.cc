#include "services/collector/delivery/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/collector/delivery/spool_chain.h"

namespace nanolane::collector {
namespace {

namespace fs = std::filesystem;

constexpr char kLog[] = "delivery";
constexpr std::string_view kSuffix = ".spool";
constexpr std::string_view kRefusedSuffix = ".refused";

absl::Status FolderError(const std::string& folder) {
  return absl::InternalError(
      base::StrCat("cannot use the spool folder ", folder, ": ", std::strerror(errno)));
}

}  // namespace

Spool::Spool(const SpoolOptions& options) : options_(options) {}

Spool::~Spool() {
  {
    base::MutexLock lock(mutex_);
    leftovers_.clear();
  }
  if (folder_fd_ >= 0) ::close(folder_fd_);
}

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const SpoolOptions& options) {
  std::unique_ptr<Spool> spool(new Spool(options));
  if (::mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return FolderError(options.folder);
  }
  // The lock is the folder's own and goes with the process, however it ends.
  spool->folder_fd_ = ::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (spool->folder_fd_ < 0) return FolderError(options.folder);
  if (::flock(spool->folder_fd_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        base::StrCat("the spool folder ", options.folder,
                     " is in use by another collector; give each its own with --spool"));
  }
  RETURN_IF_ERROR(spool->Scan());
  return spool;
}

absl::Status Spool::Scan() {
  std::map<Key, std::vector<std::unique_ptr<SpoolFile>>> found;
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(options_.folder, error)) {
    paths.push_back(entry.path().string());
  }
  if (error) return absl::InternalError(base::StrCat("cannot read ", options_.folder));
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const bool refused = std::string_view(path).ends_with(kRefusedSuffix);
    if (!refused && !std::string_view(path).ends_with(kSuffix)) continue;
    auto file = SpoolFile::Recover(path);
    if (!file.ok() && absl::IsDataLoss(file.status()) && !refused) {
      base::LogWarning(kLog, base::StrCat("deleted: ", file.status().message()));
      fs::remove(path, error);
      continue;
    }
    base::MutexLock lock(mutex_);
    if (!file.ok()) {
      base::LogWarning(kLog, base::StrCat("left alone: ", file.status().message()));
      const uint64_t bytes = fs::file_size(path, error);
      if (!error) used_bytes_ += bytes;
      if (!error && refused) refused_files_.push_back({path, Key(), bytes});
      continue;
    }
    used_bytes_ += (*file)->bytes();
    Key key((*file)->session().session_id(), (*file)->epoch());
    if (refused) {
      refused_files_.push_back({path, key, (*file)->bytes()});
      Held& held = held_refused_[key];
      held.last_sequence = std::max(held.last_sequence, (*file)->last_sequence());
    } else {
      found[key].push_back(*std::move(file));
    }
  }
  AddLeftovers(std::move(found));
  return absl::OkStatus();
}

void Spool::AddLeftovers(std::map<Key, std::vector<std::unique_ptr<SpoolFile>>> found) {
  for (auto& [key, files] : found) {
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
      return a->first_sequence() < b->first_sequence();
    });
    size_t whole = 1;
    while (whole < files.size() &&
           files[whole]->first_sequence() == files[whole - 1]->last_sequence() + 1) {
      ++whole;
    }
    for (size_t i = whole; i < files.size(); ++i) {
      base::LogError(kLog, base::StrCat(files[i]->path(), " follows a gap: what is between ",
                                        files[i - 1]->last_sequence(), " and ",
                                        files[i]->first_sequence(), " was lost"));
      Refuse(key, *files[i]);
    }
    files.resize(whole);
    auto chain = std::make_unique<SpoolChain>(*this, std::move(files));
    base::MutexLock lock(mutex_);
    leftovers_.push_back(std::move(chain));
  }
}

std::vector<std::unique_ptr<SpoolChain>> Spool::TakeLeftovers() {
  base::MutexLock lock(mutex_);
  return std::exchange(leftovers_, {});
}

uint64_t Spool::used_bytes() const {
  base::MutexLock lock(mutex_);
  return used_bytes_;
}

uint64_t Spool::refused() const {
  base::MutexLock lock(mutex_);
  return refused_;
}

bool Spool::HasOlder(const std::string& session_id, uint64_t epoch) const {
  base::MutexLock lock(mutex_);
  const auto first = held_.lower_bound(Key(session_id, 0));
  return first != held_.end() && first->first < Key(session_id, epoch);
}

std::optional<Spool::Held> Spool::HeldOf(const std::string& session_id, uint64_t epoch) const {
  base::MutexLock lock(mutex_);
  std::optional<Held> held;
  for (const auto* kept : {&held_, &held_refused_}) {
    const auto at = kept->find(Key(session_id, epoch));
    if (at == kept->end()) continue;
    if (!held || at->second.last_sequence > held->last_sequence) held = at->second;
  }
  return held;
}

absl::Status Spool::Reserve(uint64_t bytes) {
  base::MutexLock lock(mutex_);
  while (used_bytes_ + bytes > options_.bytes && !refused_files_.empty()) {
    const RefusedFile oldest = refused_files_.front();
    refused_files_.pop_front();
    base::LogWarning(kLog, base::StrCat("the spool is full: deleted ", oldest.path));
    std::error_code error;
    fs::remove(oldest.path, error);
    used_bytes_ -= std::min(used_bytes_, oldest.bytes);
    const auto same = [&](const RefusedFile& file) { return file.key == oldest.key; };
    if (std::none_of(refused_files_.begin(), refused_files_.end(), same)) {
      held_refused_.erase(oldest.key);
    }
  }
  if (used_bytes_ + bytes > options_.bytes) {
    return absl::ResourceExhaustedError(
        base::StrCat("the spool ", options_.folder, " is full: ", used_bytes_, " of ",
                     options_.bytes, " bytes; bring the store back or raise --spool-mb"));
  }
  used_bytes_ += bytes;
  return absl::OkStatus();
}

void Spool::ReserveAnyway(uint64_t bytes) {
  base::MutexLock lock(mutex_);
  used_bytes_ += bytes;
}

void Spool::Release(uint64_t bytes) {
  base::MutexLock lock(mutex_);
  used_bytes_ -= std::min(used_bytes_, bytes);
}

void Spool::Hold(const Key& key, const Held& held) {
  base::MutexLock lock(mutex_);
  held_[key] = held;
}

void Spool::Forget(const Key& key) {
  base::MutexLock lock(mutex_);
  held_.erase(key);
}

void Spool::Refuse(const Key& key, SpoolFile& file) {
  std::string path = file.path();
  path.replace(path.size() - kSuffix.size(), kSuffix.size(), kRefusedSuffix);
  if (absl::Status status = file.Rename(path); !status.ok()) {
    base::LogError(kLog, base::StrCat(status.message()));
  }
  base::MutexLock lock(mutex_);
  refused_files_.push_back({file.path(), key, file.bytes()});
  Held& held = held_refused_[key];
  held.last_sequence = std::max(held.last_sequence, file.last_sequence());
}

absl::Status Spool::SyncFolder() const {
  return ::fsync(folder_fd_) == 0 ? absl::OkStatus() : FolderError(options_.folder);
}

}  // namespace nanolane::collector
