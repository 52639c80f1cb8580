#include "libs/ingest/kineto/spill_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace nanolane::ingest::kineto {

absl::StatusOr<SpillFile> SpillFile::Create(const std::string& folder) {
  std::string path = folder;
  if (path.empty()) {
    const char* chosen = std::getenv("TMPDIR");
    path = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  absl::StrAppend(&path, "/nanolane-import-XXXXXX");
  const int file = mkstemp(path.data());
  if (file < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make a temporary file ", path,
                                                   ": set TMPDIR to a folder with room"));
  }
  unlink(path.c_str());
  return SpillFile(file);
}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  return *this;
}

SpillFile::~SpillFile() {
  if (file_ >= 0) close(file_);
}

absl::Status SpillFile::Append(const void* bytes, size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = write(file_, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return absl::ErrnoToStatus(errno,
                                 "cannot write a temporary file: set TMPDIR to a folder with room");
    }
    at += written;
    count -= static_cast<size_t>(written);
    size_ += static_cast<uint64_t>(written);
  }
  return absl::OkStatus();
}

absl::Status SpillFile::ReadAt(uint64_t offset, void* bytes, size_t count) const {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = pread(file_, at, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot read a temporary file back");
    if (got == 0) return absl::DataLossError("a temporary file is shorter than what was written");
    at += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace nanolane::ingest::kineto
