// What captures a collector has asked for and not brought to their end, as files beside its spool:
// one for each, SESSION.capture. A collector that starts anew learns from them of captures whose
// process has ended meanwhile and so can hand over no ring; nobody else would ever end their
// sessions. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::collector {

class CaptureJournal {
 public:
  struct Entry {
    nanolane::trace::v1::Session session;  // as known when it began
    uint64_t start_ticks = 0;              // of its process, as ProcessFacts has them
    bool has_begun = true;                 // false: the process has been asked, and may never begin
  };

  // The folder is there.
  explicit CaptureJournal(std::string folder) : folder_(std::move(folder)) {}

  // Returns once it is on disk. An entry of the same session is replaced.
  absl::Status Write(const Entry& entry);
  void Remove(const std::string& session_id);
  // What lies in the folder. Files that cannot be read are deleted.
  std::vector<Entry> Read();

 private:
  std::string PathOf(const std::string& session_id) const;

  const std::string folder_;
};

}  // namespace nanolane::collector
