// Stores under test, and a writer of one epoch, for the suites of what every store must do. Each
// CONTRACT runs against the store in memory and the one on RocksDB.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "libs/base/clock.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/wire.h"
#include "services/store/memory_store.h"
#include "services/store/rocks_store.h"
#include "tests/support/temp_folder.h"

namespace nanolane::store {

using trace::Event;
using trace::EventColumns;

inline constexpr const char* kSession = "00112233445566778899aabbccddeeff";
inline constexpr const char* kOther = "ffeeddccbbaa99887766554433221100";

// A store under test. Reopen() is what a restart does; a store that keeps nothing skips it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Store& store() = 0;
  virtual bool Reopen() = 0;

  // Seals what can be sealed of a session; returns the number of runs.
  int SealAll(const std::string& id = kSession) {
    int runs = 0;
    while (true) {
      auto seal = store().PrepareSeal(id);
      REQUIRE(seal.ok());
      if (*seal == nullptr) return runs;
      REQUIRE(store().PublishSeal(**seal).ok());
      ++runs;
    }
  }
};

// Of a store under test: small runs, so that tests reach every bound.
struct SubjectOptions {
  SealOptions seal = {
      .run_events = 1'000, .live_lane_events = 100, .reorder_ns = 50, .keep_log_ns = 1'000};
  uint64_t max_bytes = 0;
  uint64_t reclaim_bytes = 256 << 20;
};

class MemorySubject final : public Subject {
 public:
  MemorySubject(const base::Clock& clock, const SubjectOptions& options)
      : store_(clock, options.seal, options.max_bytes) {}
  Store& store() override { return store_; }
  bool Reopen() override { return false; }

 private:
  MemoryStore store_;
};

class RocksSubject final : public Subject {
 public:
  explicit RocksSubject(const base::Clock& clock, const SubjectOptions& options = {})
      : clock_(clock), options_(options) {
    Open();
  }
  Store& store() override { return *store_; }
  bool Reopen() override {
    store_.reset();
    Open();
    return true;
  }
  const std::string& path() const { return folder_.path(); }

 private:
  void Open() {
    auto opened = RocksStore::Open({.path = folder_.path(),
                                    .seal = options_.seal,
                                    .max_bytes = options_.max_bytes,
                                    .reclaim_bytes = options_.reclaim_bytes},
                                   clock_);
    REQUIRE(opened.ok());
    store_ = *std::move(opened);
  }
  const base::Clock& clock_;
  const SubjectOptions options_;
  testing::TempFolder folder_;
  std::unique_ptr<RocksStore> store_;
};

struct MemoryFactory {
  static std::unique_ptr<Subject> Make(const base::Clock& clock,
                                       const SubjectOptions& options = {}) {
    return std::make_unique<MemorySubject>(clock, options);
  }
};
struct RocksFactory {
  static std::unique_ptr<Subject> Make(const base::Clock& clock,
                                       const SubjectOptions& options = {}) {
    return std::make_unique<RocksSubject>(clock, options);
  }
};

inline Session SessionNamed(const std::string& id) {
  Session session;
  session.set_session_id(id);
  session.set_project("search");
  session.set_host("gpu-07");
  session.set_pid(4'121);
  return session;
}

// A writer of one epoch: builds requests with rising sequences.
class Writer {
 public:
  explicit Writer(std::string id = kSession, uint64_t epoch = 1)
      : id_(std::move(id)), epoch_(epoch) {}

  trace::DictionaryBuilder& dictionary() { return dictionary_; }
  trace::LaneId Stream(int64_t stream) {
    return dictionary_.Intern(trace::Lane{.kind = trace::LaneKind::kStream, .stream = stream});
  }
  trace::OpId Kernel(const std::string& name) {
    return dictionary_.Intern(
        trace::Op{.kind = trace::EventKind::kKernel, .name = dictionary_.Intern(name)});
  }

  std::string Block(trace::LaneId lane, const std::vector<Event>& events) {
    EventColumns columns;
    trace::OpId op = 0;
    trace::StackId stack = 0;
    for (const Event& event : events) {
      columns.Add(event);
      op = std::max(op, event.op);
      stack = std::max(stack, event.stack);
    }
    return *trace::EncodeBlock(columns, {.lane = lane, .needs = dictionary_.NeedsOf(op, stack)});
  }

  // A request with the dictionary's news and these blocks.
  v1::AppendRequest Request(const std::vector<std::string>& blocks) {
    v1::AppendRequest request;
    if (sequence_ == 0) *request.mutable_session() = SessionNamed(id_);
    request.set_sequence(++sequence_);
    const trace::DictionaryDelta delta = dictionary_.TakeDelta();
    if (!delta.empty()) trace::ToProto(delta, *request.mutable_dictionary());
    for (const std::string& block : blocks) request.add_blocks(block);
    return request;
  }

  absl::Status Send(Store& store, const v1::AppendRequest& request) const {
    AppendItem item{.session_id = id_,
                    .epoch = epoch_,
                    .request = &request,
                    .status = {},
                    .acknowledged_sequence = 0};
    store.Commit({&item, 1});
    last_acknowledged_ = item.acknowledged_sequence;
    return item.status;
  }
  // Says that the session has ended.
  absl::Status End(Store& store) const {
    v1::AppendRequest request;
    *request.mutable_session() = SessionNamed(id_);
    request.mutable_session()->set_ended(true);
    return Send(store, request);
  }
  uint64_t last_acknowledged() const { return last_acknowledged_; }
  void Skip() { ++sequence_; }

 private:
  std::string id_;
  uint64_t epoch_;
  uint64_t sequence_ = 0;
  trace::DictionaryBuilder dictionary_;
  mutable uint64_t last_acknowledged_ = 0;
};

inline std::vector<v1::StoredBlock> Read(Store& store, const v1::ReadBlocksRequest& request) {
  std::vector<v1::StoredBlock> blocks;
  const absl::Status status = store.ReadBlocks(request, [&](v1::StoredBlock block) {
    blocks.push_back(std::move(block));
    return true;
  });
  REQUIRE(status.ok());
  return blocks;
}

inline v1::ReadBlocksRequest All(const std::string& id = kSession) {
  v1::ReadBlocksRequest request;
  request.set_session_id(id);
  request.set_with_data(true);
  return request;
}

inline trace::Dictionary ReadWholeDictionary(Store& store, uint64_t epoch = 1) {
  trace::Dictionary dictionary;
  const absl::Status status =
      store.ReadDictionary(kSession, {.epoch = epoch}, [&](DictionaryDelta delta) {
        REQUIRE(dictionary.Apply(trace::FromProto(delta)).ok());
        return true;
      });
  REQUIRE(status.ok());
  return dictionary;
}

#define CONTRACT(name) TEMPLATE_TEST_CASE(name, "", MemoryFactory, RocksFactory)

}  // namespace nanolane::store
