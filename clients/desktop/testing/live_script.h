// A session as it is recorded: several writers, each with ids of its own, whose blocks come in no
// order of time; as the steps in which it is followed, and as the stream in which it is read once
// it has ended. Both say the same: the one is the other's oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "clients/desktop/testing/session_builder.h"
#include "nanolane/query/v1/query.pb.h"

namespace nanolane::desktop {

struct LiveScriptOptions {
  size_t block_events = 10;
  size_t state_blocks = 3;  // blocks that are there when the following begins
  uint64_t seed = 1;        // of the order in which blocks come
};

class LiveScript {
 public:
  // `epochs` are the writers' parts of one session; the first says what the session is. Lanes that
  // are equal are one lane of the session.
  LiveScript(const std::vector<SessionBuilder>& epochs, const LiveScriptOptions& options);

  // The state, over several messages, then one step for each further block, then the end.
  const std::vector<query::v1::FollowResponse>& steps() const { return steps_; }
  // Messages of the state at the beginning.
  size_t state_steps() const { return state_steps_; }
  // The ended session, read whole.
  const std::vector<query::v1::StreamTimelineResponse>& whole() const { return whole_; }
  const trace::v1::SessionSummary& summary() const { return summary_; }  // when it has ended

 private:
  struct Piece {
    size_t epoch = 0;
    query::v1::Block block;
    query::v1::LaneInfo lane;  // of this block alone
  };

  void AddPieces(const SessionBuilder& epoch, size_t index, size_t block_events);
  void WriteSteps(size_t state_blocks);
  void WriteWhole();
  void Grow(const Piece& piece);
  // What is known after the pieces that were grown by.
  trace::v1::SessionSummary Running() const;
  void AddDictionary(size_t epoch, query::v1::FollowResponse& step) const;

  trace::v1::SessionSummary summary_;
  std::vector<trace::v1::DictionaryDelta> dictionaries_;
  std::vector<Piece> pieces_;
  std::vector<query::v1::LaneInfo> lanes_;  // as they have grown so far
  std::vector<query::v1::FollowResponse> steps_;
  std::vector<query::v1::StreamTimelineResponse> whole_;
  size_t state_steps_ = 0;
};

// SmallSession() by two writers, the second with other ids, lanes of its own and what happens last.
std::vector<SessionBuilder> TwoWriters();

}  // namespace nanolane::desktop
