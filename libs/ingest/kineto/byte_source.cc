#include "libs/ingest/kineto/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace nanolane::ingest::kineto {
namespace {

constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kChunks = 6;

// A gzip member begins with these.
constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};

}  // namespace

class FileSource::Pump {
 public:
  explicit Pump(FileSource& source) : source_(source), hash_(XXH3_createState()) {
    XXH3_128bits_reset(hash_);
  }
  ~Pump() {
    if (inflating_) inflateEnd(&stream_);
    XXH3_freeState(hash_);
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  absl::Status Run();
  ContentHash Hash() const {
    const XXH128_hash_t digest = XXH3_128bits_digest(hash_);
    return {.low = digest.low64, .high = digest.high64};
  }

 private:
  // Reads on behind what is left of input_, which is empty or short. Nothing more: input_ stays.
  absl::Status Read();
  absl::Status ReadInto(char* at, size_t room, size_t& count);
  absl::Status CopyPlain();
  absl::Status Inflate();
  absl::Status InflateInput(bool& member_open);
  bool AtGzipMember() const {
    return input_.size() >= 2 && static_cast<unsigned char>(input_[0]) == kGzipMagic[0] &&
           static_cast<unsigned char>(input_[1]) == kGzipMagic[1];
  }
  // False: the reader has gone away.
  bool TakeEmpty();
  bool Send();

  FileSource& source_;
  XXH3_state_t* hash_;
  z_stream stream_ = {};
  bool inflating_ = false;
  bool stopped_ = false;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
  std::string_view input_;
  Chunk out_;
};

absl::Status FileSource::Pump::ReadInto(char* at, size_t room, size_t& count) {
  ssize_t got = 0;
  do {
    got = read(source_.file_, at, room);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return absl::ErrnoToStatus(errno, "cannot read on in the trace file");
  count = static_cast<size_t>(got);
  source_.bytes_read_.fetch_add(count, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status FileSource::Pump::Read() {
  const size_t left = input_.size();
  std::copy_n(input_.data(), left, buffer_.data());
  size_t count = 0;
  RETURN_IF_ERROR(ReadInto(buffer_.data() + left, buffer_.size() - left, count));
  input_ = std::string_view(buffer_.data(), left + count);
  return absl::OkStatus();
}

bool FileSource::Pump::TakeEmpty() {
  std::optional<Chunk> chunk = source_.empty_.Pop();
  if (!chunk.has_value()) {
    stopped_ = true;
    return false;
  }
  out_ = *std::move(chunk);
  out_.bytes.resize(kChunkBytes);
  out_.size = 0;
  return true;
}

bool FileSource::Pump::Send() {
  if (stopped_) return false;
  if (out_.size == 0) return true;
  XXH3_128bits_update(hash_, out_.bytes.data(), out_.size);
  if (!source_.filled_.Push(std::move(out_))) {
    stopped_ = true;
    return false;
  }
  return TakeEmpty();
}

absl::Status FileSource::Pump::CopyPlain() {
  std::copy_n(input_.data(), input_.size(), out_.bytes.data());
  out_.size = input_.size();
  absl::Status status;
  for (;;) {
    size_t count = 0;
    status = ReadInto(out_.bytes.data() + out_.size, kChunkBytes - out_.size, count);
    out_.size += count;
    const bool ended = !status.ok() || count == 0;
    if ((ended || out_.size == kChunkBytes) && !Send()) break;
    if (ended) break;
  }
  return status;
}

absl::Status FileSource::Pump::InflateInput(bool& member_open) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
  stream_.avail_in = static_cast<uInt>(input_.size());
  while (stream_.avail_in > 0 && member_open && !stopped_) {
    stream_.next_out = reinterpret_cast<Bytef*>(out_.bytes.data() + out_.size);
    stream_.avail_out = static_cast<uInt>(kChunkBytes - out_.size);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    out_.size = kChunkBytes - stream_.avail_out;
    if (result == Z_STREAM_END) {
      member_open = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const uint64_t at = source_.bytes_read() - stream_.avail_in;
      return absl::DataLossError(
          absl::StrCat("the gzip data is damaged at byte ", at, " of the file (",
                       stream_.msg != nullptr ? stream_.msg : "unknown", ")"));
    }
    if (stream_.avail_out == 0) Send();
  }
  input_.remove_prefix(input_.size() - stream_.avail_in);
  return absl::OkStatus();
}

absl::Status FileSource::Pump::Inflate() {
  constexpr int kGzipWindow = 15 + 16;
  if (inflateInit2(&stream_, kGzipWindow) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to inflate the trace file");
  }
  inflating_ = true;
  bool member_open = true;
  absl::Status status;
  while (status.ok() && !stopped_) {
    status = InflateInput(member_open);
    if (!status.ok()) break;
    if (input_.empty()) {
      status = Read();
      if (status.ok() && input_.empty()) {
        if (member_open) {
          status = absl::DataLossError(absl::StrCat("the gzip data ends too early, at byte ",
                                                    source_.bytes_read(), " of the file"));
        }
        break;
      }
    }
    if (!member_open) {
      if (input_.size() < 2) status = Read();
      if (!status.ok() || !AtGzipMember())
        break;  // as gzip does: padding behind the last member is no error
      inflateReset(&stream_);
      member_open = true;
    }
  }
  Send();
  return status;
}

absl::Status FileSource::Pump::Run() {
  if (!TakeEmpty()) return absl::OkStatus();
  absl::Status status = Read();
  if (status.ok() && input_.size() < 2) status = Read();
  if (!status.ok()) return status;
  return AtGzipMember() ? Inflate() : CopyPlain();
}

absl::StatusOr<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat facts = {};
  if (fstat(file, &facts) != 0) {
    const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    close(file);
    return status;
  }
  if (S_ISDIR(facts.st_mode)) {
    close(file);
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is a folder: name the trace files in it"));
  }
  return std::unique_ptr<FileSource>(
      new FileSource(file, facts.st_size > 0 ? static_cast<uint64_t>(facts.st_size) : 0));
}

FileSource::FileSource(int file, uint64_t bytes_total)
    : file_(file), bytes_total_(bytes_total), filled_(kChunks), empty_(kChunks) {
  for (size_t i = 0; i < kChunks; ++i) {
    Chunk chunk;
    (void)empty_.TryPush(chunk);
  }
  helper_ = std::thread([this] { Run(); });
}

FileSource::~FileSource() {
  filled_.Close();
  empty_.Close();
  helper_.join();
  close(file_);
}

void FileSource::Run() {
  Pump pump(*this);
  status_ = pump.Run();
  hash_ = pump.Hash();
  filled_.Close();
}

bool FileSource::Next(std::string_view& chunk) {
  if (!current_.bytes.empty()) {
    (void)empty_.TryPush(current_);
    current_ = {};
  }
  std::optional<Chunk> next = filled_.Pop();
  if (!next.has_value()) return false;
  current_ = *std::move(next);
  chunk = std::string_view(current_.bytes.data(), current_.size);
  return true;
}

}  // namespace nanolane::ingest::kineto
