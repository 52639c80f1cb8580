#include "services/collector/delivery/spool_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/little_endian.h"

namespace nanolane::collector {
namespace {

using trace::AppendLittle;
using trace::GetLittle;

constexpr char kMagic[] = {'N', 'L', 'S', 'P'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kHeaderFixed = 28;
constexpr uint64_t kEntryFixed = 28;
constexpr uint64_t kBodyFixed = 16;  // of them, what the checksum is over
// Bounds on what a file may claim.
constexpr uint64_t kMostSessionBytes = 8 << 20;
constexpr uint64_t kMostRequestBytes = 16 << 20;

absl::Status FileError(const std::string& what, const std::string& path) {
  const int error = errno;
  const std::string message = base::StrCat("cannot ", what, " ", path, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  if (error == EEXIST) return absl::AlreadyExistsError(message);
  return absl::InternalError(message);
}

// Fewer bytes than asked for only at the end of the file.
absl::StatusOr<std::string> ReadBytes(int fd, uint64_t offset, uint64_t size,
                                      const std::string& path) {
  std::string data(size, '\0');
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t got =
        ::pread(fd, data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  data.resize(done);
  return data;
}

std::string EncodeEntry(const SpoolFile::Entry& entry) {
  std::string body;
  body.reserve(kBodyFixed + entry.request.size());
  AppendLittle<uint64_t>(body, entry.sequence);
  AppendLittle<uint64_t>(body, entry.sent);
  body += entry.request;
  std::string out;
  out.reserve(kEntryFixed + entry.request.size());
  AppendLittle<uint32_t>(out, static_cast<uint32_t>(entry.request.size()));
  AppendLittle<uint64_t>(out, XXH3_64bits_withSeed(body.data(), body.size(), entry.request.size()));
  return out + body;
}

}  // namespace

uint64_t SpoolFile::HeaderBytes(const nanolane::trace::v1::Session& session) {
  return kHeaderFixed + session.ByteSizeLong();
}

uint64_t SpoolFile::EntryBytes(uint64_t request_bytes) { return kEntryFixed + request_bytes; }

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Create(
    const std::string& path, const nanolane::trace::v1::Session& session, uint64_t epoch) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("make", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(fd, path));
  file->session_ = session;
  file->epoch_ = epoch;
  const std::string text = session.SerializeAsString();
  std::string body;
  AppendLittle<uint64_t>(body, epoch);
  AppendLittle<uint32_t>(body, static_cast<uint32_t>(text.size()));
  body += text;
  std::string header(kMagic, sizeof(kMagic));
  AppendLittle<uint32_t>(header, kVersion);
  AppendLittle<uint64_t>(header, XXH3_64bits(body.data(), body.size()));
  header += body;
  absl::Status status = file->Write(header);
  if (status.ok()) status = file->Sync();
  if (!status.ok()) {
    ::unlink(path.c_str());
    return status;
  }
  file->header_bytes_ = header.size();
  return file;
}

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Recover(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return FileError("open", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(fd, path));
  RETURN_IF_ERROR(file->ReadHeader());
  const off_t end = ::lseek(fd, 0, SEEK_END);
  if (end < 0) return FileError("read", path);
  file->bytes_ = static_cast<uint64_t>(end);
  uint64_t offset = file->header_bytes_;
  while (true) {
    auto entry = file->ReadAt(offset);
    if (!entry.ok() && !absl::IsDataLoss(entry.status())) return entry.status();
    if (!entry.ok() || !entry->has_value()) break;
    const uint64_t sequence = (*entry)->sequence;
    const bool in_order = file->last_sequence_ == 0 || sequence == file->last_sequence_ + 1;
    if (sequence != 0 && !in_order) break;
    file->Note(**entry);
    file->synced_.bytes = offset;
  }
  if (file->first_sequence_ == 0) {
    return absl::DataLossError(base::StrCat(path, " holds no whole request"));
  }
  // What could be read may not be on the disk yet: the crash may have been the collector's alone.
  file->bytes_ = file->synced_.bytes;
  if (::ftruncate(fd, static_cast<off_t>(file->bytes_)) != 0) return FileError("cut", path);
  RETURN_IF_ERROR(file->Sync());
  return file;
}

SpoolFile::~SpoolFile() { ::close(fd_); }

absl::Status SpoolFile::ReadHeader() {
  const absl::Status lost = absl::DataLossError(base::StrCat(path_, " is no whole spool file"));
  ASSIGN_OR_RETURN(const std::string fixed, ReadBytes(fd_, 0, kHeaderFixed, path_));
  if (fixed.size() < kHeaderFixed || std::memcmp(fixed.data(), kMagic, sizeof(kMagic)) != 0) {
    return lost;
  }
  const auto version = GetLittle<uint32_t>(fixed.data() + 4);
  if (version != kVersion) {
    return absl::UnimplementedError(
        base::StrCat(path_, " is of version ", version, "; start a newer collector"));
  }
  const uint64_t size = GetLittle<uint32_t>(fixed.data() + 24);
  if (size > kMostSessionBytes) return lost;
  ASSIGN_OR_RETURN(const std::string body, ReadBytes(fd_, 16, 12 + size, path_));
  if (body.size() < 12 + size ||
      XXH3_64bits(body.data(), body.size()) != GetLittle<uint64_t>(fixed.data() + 8) ||
      !session_.ParseFromArray(body.data() + 12, static_cast<int>(size))) {
    return lost;
  }
  epoch_ = GetLittle<uint64_t>(body.data());
  header_bytes_ = kHeaderFixed + size;
  return absl::OkStatus();
}

absl::Status SpoolFile::Write(const std::string& data) {
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t put =
        ::pwrite(fd_, data.data() + done, data.size() - done, static_cast<off_t>(bytes_ + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const absl::Status status = FileError("write", path_);
      Revert();
      return status;
    }
    done += static_cast<size_t>(put);
  }
  bytes_ += data.size();
  return absl::OkStatus();
}

void SpoolFile::Note(const Entry& entry) {
  sent_ = entry.sent;
  if (entry.sequence == 0) return;
  if (first_sequence_ == 0) first_sequence_ = entry.sequence;
  last_sequence_ = entry.sequence;
}

absl::Status SpoolFile::Append(const Entry& entry) {
  RETURN_IF_ERROR(Write(EncodeEntry(entry)));
  Note(entry);
  return absl::OkStatus();
}

absl::Status SpoolFile::Sync() {
  if (::fdatasync(fd_) != 0) {
    const absl::Status status = FileError("sync", path_);
    Revert();
    return status;
  }
  synced_ = {.bytes = bytes_,
             .first_sequence = first_sequence_,
             .last_sequence = last_sequence_,
             .sent = sent_};
  return absl::OkStatus();
}

void SpoolFile::Revert() {
  bytes_ = synced_.bytes;
  first_sequence_ = synced_.first_sequence;
  last_sequence_ = synced_.last_sequence;
  sent_ = synced_.sent;
  // Should this fail, the next write goes over what is left there, and a reader checks each entry.
  static_cast<void>(!::ftruncate(fd_, static_cast<off_t>(bytes_)));
}

absl::StatusOr<std::optional<SpoolFile::Entry>> SpoolFile::ReadAt(uint64_t& offset) const {
  if (offset == 0) offset = header_bytes_;
  if (offset >= bytes_) return std::nullopt;
  const absl::Status lost =
      absl::DataLossError(base::StrCat(path_, " is corrupt at byte ", offset));
  ASSIGN_OR_RETURN(const std::string fixed, ReadBytes(fd_, offset, kEntryFixed, path_));
  if (fixed.size() < kEntryFixed) return lost;
  const uint64_t size = GetLittle<uint32_t>(fixed.data());
  if (size > kMostRequestBytes || offset + kEntryFixed + size > bytes_) return lost;
  ASSIGN_OR_RETURN(std::string body, ReadBytes(fd_, offset + 12, kBodyFixed + size, path_));
  if (body.size() < kBodyFixed + size || XXH3_64bits_withSeed(body.data(), body.size(), size) !=
                                             GetLittle<uint64_t>(fixed.data() + 4)) {
    return lost;
  }
  offset += kEntryFixed + size;
  return Entry{.sequence = GetLittle<uint64_t>(body.data()),
               .sent = GetLittle<uint64_t>(body.data() + 8),
               .request = body.substr(kBodyFixed)};
}

absl::Status SpoolFile::Rename(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) return FileError("rename", path_);
  path_ = path;
  return absl::OkStatus();
}

}  // namespace nanolane::collector
