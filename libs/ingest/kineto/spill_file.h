// A temporary file that is gone when it is closed, or when the process dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace nanolane::ingest::kineto {

// Move-only. Thread-compatible.
class SpillFile {
 public:
  // `folder` empty: $TMPDIR, or /tmp.
  static absl::StatusOr<SpillFile> Create(const std::string& folder);

  SpillFile(SpillFile&& other) noexcept : file_(other.file_), size_(other.size_) {
    other.file_ = -1;
  }
  SpillFile& operator=(SpillFile&& other) noexcept;
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // Appends. RESOURCE_EXHAUSTED where the disk is full.
  absl::Status Append(const void* bytes, size_t count);
  // Reads exactly `count` bytes at `offset`.
  absl::Status ReadAt(uint64_t offset, void* bytes, size_t count) const;

  uint64_t size() const { return size_; }

 private:
  explicit SpillFile(int file) : file_(file) {}

  int file_;
  uint64_t size_ = 0;
};

}  // namespace nanolane::ingest::kineto
