// The spool files of one epoch of a session: written at the end, read in order, deleted from the
// front. Thread-compatible. What is not released stays on the disk when a chain is destroyed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/collector/delivery/spool.h"

namespace nanolane::collector {

class SpoolChain {
 public:
  using Requests = std::vector<const nanolane::store::v1::AppendRequest*>;

  SpoolChain(Spool& spool, std::string session_id, uint64_t epoch);
  // Of files that were found; not none.
  SpoolChain(Spool& spool, std::vector<std::unique_ptr<SpoolFile>> files);

  // Writes requests, whose sequences go on from those that are there, and syncs. Returns how many
  // were taken; an error only where none was, RESOURCE_EXHAUSTED when the spool is full. `sent` is
  // the highest sequence that the store has been sent. `session` is what is known before the first
  // of them, and then after the last that was taken.
  absl::StatusOr<size_t> Append(const Requests& requests, uint64_t sent,
                                nanolane::trace::v1::Session& session);
  // To be called before requests after the last entry go to the store without passing the chain.
  // Once is enough. A few bytes, for which there is always room.
  absl::Status MarkOpenEnd();

  // The request of this sequence. Cheap where it follows the one that was read last. DATA_LOSS for
  // a file that has become unreadable, NOT_FOUND for what is not there.
  absl::StatusOr<nanolane::store::v1::AppendRequest> Read(uint64_t sequence);

  // Deletes the files all of whose entries are up to `sequence`.
  void ReleaseThrough(uint64_t sequence);
  // Sets aside what is there: the store does not take it.
  void Refuse();

  bool empty() const { return files_.empty(); }
  const std::string& session_id() const { return key_.first; }
  uint64_t epoch() const { return key_.second; }
  uint64_t first_sequence() const;  // 0: empty
  uint64_t last_sequence() const;   // 0: empty
  uint64_t bytes() const;
  // What was known before the first entry; the chain is not empty.
  const nanolane::trace::v1::Session& session() const { return files_.front()->session(); }

 private:
  absl::Status FillFile(const Requests& requests, uint64_t sent, size_t& taken,
                        nanolane::trace::v1::Session& session);
  void DeleteFile(const SpoolFile& file);
  absl::Status StartFile(uint64_t sequence, const nanolane::trace::v1::Session& session);
  void Register();

  Spool& spool_;
  const Spool::Key key_;
  std::deque<std::unique_ptr<SpoolFile>> files_;
  // Where the last read ended: the file, the offset in it, and the sequence there.
  const SpoolFile* reading_ = nullptr;
  uint64_t offset_ = 0;
  uint64_t next_ = 0;
};

}  // namespace nanolane::collector
