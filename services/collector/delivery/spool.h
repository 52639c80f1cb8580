// The folder in which requests wait for a store that is away: its bound, which is over all
// sessions, and what lies there.
//
// Each epoch of a session has a chain of files, named SESSION-EPOCH-FIRSTSEQUENCE.spool; a file
// that is delivered whole is deleted, so that a chain that never runs empty does not grow for ever.
// What the store refuses for good is renamed to *.refused and kept for a person to look at, until
// its room is needed for what can still be delivered. One process at a time uses a folder.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libs/base/mutex.h"
#include "services/collector/delivery/spool_file.h"

namespace nanolane::collector {

struct SpoolOptions {
  std::string folder;              // made if missing, mode 0700
  uint64_t bytes = 0;              // bound over all files
  uint64_t file_bytes = 16 << 20;  // a chain starts a new file beyond it
};

class SpoolChain;

// Thread-safe.
class Spool {
 public:
  // Reads what lies in the folder. Files without a whole request are deleted; what follows a gap in
  // an epoch's sequences is renamed to *.refused. FAILED_PRECONDITION when another process uses the
  // folder.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const SpoolOptions& options);
  // Chains and whatever holds them are destroyed first.
  ~Spool();

  // What was found in the folder, by session and epoch; the second call gives nothing.
  std::vector<std::unique_ptr<SpoolChain>> TakeLeftovers();

  // Bytes of all files.
  uint64_t used_bytes() const;
  // Chains that a store has refused since Open().
  uint64_t refused() const;
  // Whether requests of an epoch before this one wait for delivery.
  bool HasOlder(const std::string& session_id, uint64_t epoch) const;

  struct Held {
    uint64_t last_sequence = 0;
    bool open_end = false;  // later requests may have gone to the store
  };
  // What the epoch's files hold, refused ones too; nothing when there are none.
  std::optional<Held> HeldOf(const std::string& session_id, uint64_t epoch) const;

 private:
  friend class SpoolChain;
  using Key = std::pair<std::string, uint64_t>;
  struct RefusedFile {
    std::string path;
    Key key;
    uint64_t bytes = 0;
  };

  explicit Spool(const SpoolOptions& options);

  absl::Status Scan();
  void AddLeftovers(std::map<Key, std::vector<std::unique_ptr<SpoolFile>>> found);
  // RESOURCE_EXHAUSTED when there is no room; refused files go first.
  absl::Status Reserve(uint64_t bytes);
  void ReserveAnyway(uint64_t bytes);
  void Release(uint64_t bytes);
  void Hold(const Key& key, const Held& held);
  void Forget(const Key& key);
  // Renames the file and counts its bytes as those of a refused one.
  void Refuse(const Key& key, SpoolFile& file);
  absl::Status SyncFolder() const;

  const SpoolOptions options_;
  int folder_fd_ = -1;
  mutable base::Mutex mutex_;
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, Held> held_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, Held> held_refused_ ABSL_GUARDED_BY(mutex_);
  std::deque<RefusedFile> refused_files_ ABSL_GUARDED_BY(mutex_);  // oldest first
  std::vector<std::unique_ptr<SpoolChain>> leftovers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::collector
