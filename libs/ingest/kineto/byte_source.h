// The bytes of a trace file, inflated, chunk by chunk.
//
// A helper thread reads the file, inflates it where it is gzip (told by its first bytes, several
// members in a row included) and hashes what comes out; the caller's thread takes the chunks.
// Memory is bounded by the few chunks between the two. What goes wrong with the file after its
// first byte ends the stream early and is told by status(): what came before stays good.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/bounded_queue.h"

namespace nanolane::ingest::kineto {

// A stream of chunks. Thread-compatible.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // The next bytes, at least one, valid until the next call. False: there are no more.
  virtual bool Next(std::string_view& chunk) = 0;
};

// XXH3-128 of everything that a source gave.
struct ContentHash {
  uint64_t low = 0;
  uint64_t high = 0;
};

class FileSource final : public ChunkSource {
 public:
  // NOT_FOUND, PERMISSION_DENIED or INVALID_ARGUMENT (a folder) where the file cannot be read.
  static absl::StatusOr<std::unique_ptr<FileSource>> Open(const std::string& path);

  // Any thread may call bytes_read; everything else belongs to one thread.
  ~FileSource() override;

  bool Next(std::string_view& chunk) override;

  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  uint64_t bytes_total() const { return bytes_total_; }

  // After Next has returned false: why the stream ended early (DATA_LOSS: truncated or damaged gzip
  // data; otherwise an error of the file system), or OK.
  const absl::Status& status() const { return status_; }
  // After Next has returned false.
  ContentHash hash() const { return hash_; }

 private:
  struct Chunk {
    std::vector<char> bytes;
    size_t size = 0;
  };
  // Writes chunks; owned by the helper thread.
  class Pump;

  FileSource(int file, uint64_t bytes_total);
  void Run();

  const int file_;
  const uint64_t bytes_total_;
  std::atomic<uint64_t> bytes_read_ = 0;
  base::BoundedQueue<Chunk> filled_;
  base::BoundedQueue<Chunk> empty_;
  Chunk current_;
  // Written by the helper thread before it closes `filled_`.
  absl::Status status_;
  ContentHash hash_;
  std::thread helper_;
};

}  // namespace nanolane::ingest::kineto
