// The steps of a session that is followed, as the loader's messages, and where the stream stands:
// from which cursor to resume, how many events came, whether everything is there.
//
// A step becomes, in this order, what it says of lanes, its dictionary entries, its blocks, and
// StepEnded. A step that restarts begins with StreamOpened: what came before is superseded, so the
// count starts anew. The cursor moves only when a whole step has been handed over.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "clients/desktop/model/block_reader.h"
#include "clients/desktop/model/session_facts.h"
#include "nanolane/query/v1/query.pb.h"

namespace nanolane::desktop {

class FollowSteps {
 public:
  using PostFunction = std::function<absl::Status(LoaderMessage)>;

  // `session` is what is known of it before its stream begins; `post` takes the messages.
  FollowSteps(const trace::v1::SessionSummary& session, PostFunction post);

  // Hands one step over. DATA_LOSS where the steps contradict each other or themselves.
  absl::Status Take(const query::v1::FollowResponse& step);

  // To go on from; 0: from the beginning.
  uint64_t cursor() const { return cursor_; }
  // Steps taken so far.
  uint64_t taken() const { return taken_; }
  // The session has ended, and all that it has was handed over.
  bool complete() const { return complete_; }

 private:
  absl::Status TakeBlocks(const query::v1::FollowResponse& step);

  const PostFunction post_;
  SessionFacts session_;
  BlockReader blocks_;
  uint64_t cursor_ = 0;
  uint64_t taken_ = 0;
  uint64_t events_ = 0;  // since the last restart
  bool opened_ = false;
  bool complete_ = false;
};

}  // namespace nanolane::desktop
