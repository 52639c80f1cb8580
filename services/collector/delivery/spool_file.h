// One file of a spool: requests of one epoch of a session, in the order of their sequences.
//
//   header  "NLSP" | version u32 | checksum u64 | epoch u64 | size u32 | Session, `size` bytes
//   entry   size u32 | checksum u64 | sequence u64 | sent u64 | AppendRequest, `size` bytes
//
// Integers are little-endian, checksums XXH3-64 over what follows them (an entry's has its size as
// seed). The header's session is what was known before the first entry. `sent` is the highest
// sequence that the store had been sent when the entry was written; an entry of size 0 and sequence
// 0 stands for itself alone: kNoBound there says that requests are about to go to the store without
// passing the spool. What a crash cut off, and whatever else does not check, ends the file at the
// last whole entry before it.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::collector {

class SpoolFile {
 public:
  struct Entry {
    uint64_t sequence = 0;
    uint64_t sent = 0;
    std::string request;  // serialized AppendRequest
  };
  static constexpr uint64_t kNoBound = ~uint64_t{0};

  static uint64_t HeaderBytes(const nanolane::trace::v1::Session& session);
  static uint64_t EntryBytes(uint64_t request_bytes);

  // A new file, with its header; ALREADY_EXISTS when there is one.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Create(
      const std::string& path, const nanolane::trace::v1::Session& session, uint64_t epoch);
  // Reads a file from its beginning to its last whole entry and cuts off what follows. DATA_LOSS
  // when there is no whole entry.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Recover(const std::string& path);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // Writes at the end; durable after Sync(). On error the file is as after the last Sync().
  absl::Status Append(const Entry& entry);
  absl::Status Sync();

  // The entry at `offset`, which moves on behind it; 0: the first one. Nothing at the end.
  absl::StatusOr<std::optional<Entry>> ReadAt(uint64_t& offset) const;

  absl::Status Rename(const std::string& path);

  const std::string& path() const { return path_; }
  const nanolane::trace::v1::Session& session() const { return session_; }
  uint64_t epoch() const { return epoch_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t first_sequence() const { return first_sequence_; }  // 0: none
  uint64_t last_sequence() const { return last_sequence_; }
  // Whether the store may have later requests.
  bool open_end() const { return sent_ > last_sequence_; }

 private:
  struct State {
    uint64_t bytes = 0;
    uint64_t first_sequence = 0;
    uint64_t last_sequence = 0;
    uint64_t sent = 0;
  };

  SpoolFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  absl::Status ReadHeader();
  absl::Status Write(const std::string& data);
  void Note(const Entry& entry);
  // Back to the last Sync().
  void Revert();

  const int fd_;
  std::string path_;
  nanolane::trace::v1::Session session_;
  uint64_t epoch_ = 0;
  uint64_t header_bytes_ = 0;
  uint64_t bytes_ = 0;
  uint64_t first_sequence_ = 0;
  uint64_t last_sequence_ = 0;
  uint64_t sent_ = 0;  // what the last entry says
  State synced_;
};

}  // namespace nanolane::collector
