#include "clients/desktop/model/follow_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/facts_from_proto.h"
#include "libs/base/status_macros.h"
#include "libs/trace/wire.h"

namespace nanolane::desktop {

FollowSteps::FollowSteps(const trace::v1::SessionSummary& session, PostFunction post)
    : post_(std::move(post)), session_(FactsOf(session)) {}

absl::Status FollowSteps::Take(const query::v1::FollowResponse& step) {
  if (!opened_ && !step.restart()) {
    return absl::DataLossError("a session's steps do not begin at its beginning");
  }
  if (step.has_summary()) session_ = FactsOf(step.summary());
  std::vector<LaneFacts> lanes;
  for (const query::v1::LaneInfo& lane : step.lanes()) lanes.push_back(FactsOf(lane, 0));
  if (step.restart()) {
    blocks_ = BlockReader();
    events_ = 0;
    opened_ = true;
  }
  RETURN_IF_ERROR(blocks_.Know(lanes));
  if (step.restart()) {
    RETURN_IF_ERROR(post_(StreamOpened{.sessions = {session_},
                                       .lanes = std::move(lanes),
                                       .expected_events = session_.events,
                                       .live = true}));
  } else if (!lanes.empty()) {
    RETURN_IF_ERROR(post_(LanesGrew{std::move(lanes)}));
  }
  for (const query::v1::EpochDictionary& entries : step.dictionaries()) {
    RETURN_IF_ERROR(
        post_(DictionaryEntries{0, entries.epoch(), trace::FromProto(entries.delta())}));
  }
  RETURN_IF_ERROR(TakeBlocks(step));
  StepEnded ended{.session = std::nullopt, .caught_up = step.caught_up()};
  if (step.has_summary()) ended.session = session_;
  RETURN_IF_ERROR(post_(std::move(ended)));
  cursor_ = step.cursor();
  ++taken_;
  if (!step.caught_up() || !session_.ended) return absl::OkStatus();
  if (events_ != session_.events) {
    return absl::DataLossError(absl::StrCat("the session has ended with ", session_.events,
                                            " events, but ", events_, " came"));
  }
  complete_ = true;
  return absl::OkStatus();
}

absl::Status FollowSteps::TakeBlocks(const query::v1::FollowResponse& step) {
  for (const query::v1::Block& block : step.blocks()) {
    ASSIGN_OR_RETURN(BlockArrived arrived, blocks_.Read(0, block));
    events_ += arrived.columns.size();
    RETURN_IF_ERROR(post_(std::move(arrived)));
  }
  return absl::OkStatus();
}

}  // namespace nanolane::desktop
