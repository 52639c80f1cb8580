// What the crash test has sent to the store, and what of it was acknowledged.
//
// A session is written by epochs, an epoch by appends in order. A crash may keep any number of the
// appends that were not acknowledged, from the first one on; those that were it must keep. Every
// event has a correlation id of its own, by which it is found again. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "libs/trace/dictionary.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::testing {

using Random = std::mt19937_64;

// From `least` to `most`, both included.
inline int64_t Pick(Random& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}
inline bool OneIn(Random& random, int64_t count) { return Pick(random, 1, count) == 1; }

// The lanes that all sessions write to. The last one is a memory lane.
const std::array<trace::Lane, 5>& KillLanes();

// What is compared of an event. `lane` is an index into KillLanes(), -1 for another one.
struct EventFacts {
  int lane = -1;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  trace::EventKind kind = trace::EventKind::kUnspecified;
  std::string name;
  std::string module;  // of the frame at the end of its stack
  int64_t level_bytes = trace::kNoLevel;

  bool operator==(const EventFacts&) const = default;
};
using EventsById = std::map<uint64_t, EventFacts>;  // by correlation id

std::string ToString(const EventFacts& event);

struct SentAppend {
  store::v1::AppendRequest request;  // as it is sent, and sent again
  EventsById events;
  uint64_t losses = 0;
};

struct SentEpoch {
  uint64_t number = 0;
  std::vector<SentAppend> appends;  // the one of sequence i at i - 1
  uint64_t acknowledged = 0;
};

class SessionModel {
 public:
  // `generation` tells sessions apart that have the same id, one after the other.
  SessionModel(std::string id, uint64_t generation);

  const std::string& id() const { return id_; }
  uint64_t generation() const { return generation_; }

  // The session as its writer knows it.
  trace::v1::Session Describe() const;
  // Adds a random append to the newest epoch.
  const SentAppend& MakeAppend(Random& random);
  // Adds an append that ends the session.
  const SentAppend& MakeEnd();
  // Goes on with a new epoch: a restarted writer, whose dictionary has other ids.
  void StartEpoch(Random& random);

  SentEpoch& epoch() { return epochs_.back(); }
  const SentEpoch& epoch() const { return epochs_.back(); }
  std::vector<SentEpoch>& epochs() { return epochs_; }
  const std::vector<SentEpoch>& epochs() const { return epochs_; }
  bool AllAcknowledged() const;

  // Progress of its life; a session that was never touched is not there.
  bool touched = false;    // something was sent
  bool confirmed = false;  // something was answered: it is there
  bool deleting = false;   // a deletion was sent and not answered
  bool gone = false;       // and turned out to have happened
  bool closed = false;     // its end was acknowledged, and nothing comes after it
  // Old appends may still be on their way to the store: a stream was cancelled.
  bool stragglers = false;

 private:
  SentAppend& AddAppend();
  void AddBlock(Random& random, SentAppend& to);
  trace::Event MakeEvent(Random& random, size_t lane, EventFacts& facts);

  const std::string id_;
  const uint64_t generation_;
  std::vector<SentEpoch> epochs_;
  std::unique_ptr<trace::DictionaryBuilder> dictionary_;  // of the newest epoch
  uint64_t next_event_ = 0;
  int64_t now_ns_ = 1'000'000'000;
  bool ended_ = false;
};

}  // namespace nanolane::testing
