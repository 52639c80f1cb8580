// A visitor that keeps everything that a ring's reader hands out. For tests.
#pragma once

#include <string>
#include <vector>

#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

struct LoggedRecord {
  RecordRef ref;
  wire::RecordType type;
  uint32_t thread;
  bool stored;
  int64_t start_ns;  // what every record has behind its header
};

class RingLog final : public RingVisitor {
 public:
  void TakeFact(const FactView& fact) override { facts.emplace_back(fact.text); }
  void TakeRecord(const RecordView& record) override {
    records.push_back({.ref = record.ref,
                       .type = record.type,
                       .thread = record.thread,
                       .stored = record.stored,
                       .start_ns = static_cast<int64_t>(record.words[1])});
  }

  std::vector<int64_t> starts() const {
    std::vector<int64_t> starts;
    for (const LoggedRecord& record : records) starts.push_back(record.start_ns);
    return starts;
  }

  std::vector<std::string> facts;
  std::vector<LoggedRecord> records;
};

}  // namespace nanolane::collector
