// A capture in progress for tests: a ring as the collector makes it, mapped as the library maps it,
// and what the collector's reader finds in it. One at a time, as in a process.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/clock.h"
#include "services/collector/inject/name_facts.h"
#include "services/collector/inject/nvtx_tables.h"
#include "services/collector/inject/ring_writer.h"
#include "services/collector/ring/ring_memory.h"
#include "services/collector/ring/ring_reader.h"

namespace nanolane::inject {

inline constexpr int64_t kTestPatienceNs = 5'000'000'000;

// Everything that a reader hands out.
class Contents final : public collector::RingVisitor {
 public:
  struct Kept {
    collector::RecordRef ref;
    wire::RecordType type;
    uint32_t thread;
    std::vector<uint64_t> words;
  };

  void TakeFact(const collector::FactView& fact) override {
    if (fact.header.type == static_cast<uint16_t>(wire::FactType::kName)) {
      names[fact.header.id] = std::string(fact.text);
    }
    ++facts;
    last_fact.assign(fact.words, fact.words + fact.header.size / sizeof(uint64_t));
  }
  void TakeRecord(const collector::RecordView& record) override {
    records.push_back({.ref = record.ref,
                       .type = record.type,
                       .thread = record.thread,
                       .words = {record.words, record.words + SizeOf(record.type) / 8}});
  }

  // Copies, in the order of the ring.
  template <typename Record>
  std::vector<const Record*> Of(wire::RecordType type) const {
    std::vector<const Record*> found;
    for (const Kept& kept : records) {
      if (kept.type == type) found.push_back(reinterpret_cast<const Record*>(kept.words.data()));
    }
    return found;
  }

  std::map<uint32_t, std::string> names;
  std::vector<Kept> records;
  std::vector<uint64_t> last_fact;
  size_t facts = 0;

 private:
  static size_t SizeOf(wire::RecordType type) {
    return collector::ShapeOf(static_cast<uint16_t>(type)).size;
  }
};

class OpenCapture {
 public:
  struct Options {
    uint32_t pages = 64;
    uint32_t facts_bytes = 1 << 20;
    uint32_t kinds = wire::kAllKinds;
    // False: published, and begun by the test.
    bool begun = true;
  };

  OpenCapture() : OpenCapture(Options{}) {}
  explicit OpenCapture(const Options& options)
      : memory_(*collector::RingMemory::Create(
            {.page_count = options.pages, .facts_bytes = options.facts_bytes})),
        reader_(*memory_) {
    const char* why = "";
    ring_ = Ring::Map(memory_->descriptor(), &why);
    REQUIRE(ring_ != nullptr);
    REQUIRE(ResetNames());
    ForgetProcessRanges();
    PublishCapture(ring_, options.kinds);
    if (options.begun) Begin();
  }
  ~OpenCapture() { End(); }
  OpenCapture(const OpenCapture&) = delete;
  OpenCapture& operator=(const OpenCapture&) = delete;

  void Begin(int64_t ends_ns = INT64_MAX) {
    on_ns_ = MonotonicNs();
    BeginCapture(on_ns_, ends_ns);
  }

  // As Capture::Stop does it.
  void End() {
    if (ring_ == nullptr) return;
    REQUIRE(RetractCapture(kTestPatienceNs));
    ring_->CloseAllPages();
    memory_->header().state.store(static_cast<uint32_t>(wire::RingState::kStopped));
    Ring::Unmap(ring_);
    ring_ = nullptr;
  }

  // Reads what is there and gives its pages back.
  const Contents& Read() {
    const size_t before = contents_.records.size();
    while (reader_.Read(1'000, contents_) == 1'000) {
    }
    for (size_t i = before; i < contents_.records.size(); ++i) {
      reader_.Mark(contents_.records[i].ref, 1);
    }
    reader_.SetSafe(1);
    reader_.Release();
    reader_.UpdateCounters();
    return contents_;
  }

  uint64_t Lost(wire::LossReason reason, uint32_t kind) const {
    return memory_->header().lost[static_cast<size_t>(reason)][kind].load();
  }
  uint64_t Produced(uint32_t kind) const { return memory_->header().produced[kind].load(); }

  Ring& ring() { return *ring_; }
  collector::RingMemory& memory() { return *memory_; }
  collector::RingReader& reader() { return reader_; }
  const Contents& contents() const { return contents_; }
  int64_t on_ns() const { return on_ns_; }

 private:
  std::unique_ptr<collector::RingMemory> memory_;
  collector::RingReader reader_;
  Contents contents_;
  Ring* ring_ = nullptr;
  int64_t on_ns_ = 0;
};

}  // namespace nanolane::inject
