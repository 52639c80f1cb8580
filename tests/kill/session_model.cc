#include "tests/kill/session_model.h"

#include <algorithm>

#include "libs/base/str_cat.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

using trace::EventKind;
using trace::LaneKind;

constexpr std::array<EventKind, 5> kKindOfLane = {
    EventKind::kKernel, EventKind::kMemcpy, EventKind::kSync, EventKind::kNvtx, EventKind::kMemory};
constexpr size_t kMemoryLane = 4;

}  // namespace

const std::array<trace::Lane, 5>& KillLanes() {
  static const std::array<trace::Lane, 5> lanes = {
      trace::Lane{.kind = LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 7},
      trace::Lane{.kind = LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 14},
      trace::Lane{.kind = LaneKind::kNoStreamSync, .gpu_index = 0, .context = 1},
      trace::Lane{.kind = LaneKind::kNvtxThread, .thread = 4'121, .domain = "step"},
      trace::Lane{.kind = LaneKind::kMemoryFramework, .gpu_index = 0}};
  return lanes;
}

std::string ToString(const EventFacts& event) {
  return base::StrCat("lane ", event.lane, " start ", event.start_ns, " duration ",
                      event.duration_ns, " kind ", static_cast<int>(event.kind), " name ",
                      event.name, " module ", event.module, " level ", event.level_bytes);
}

SessionModel::SessionModel(std::string id, uint64_t generation)
    : id_(std::move(id)),
      generation_(generation),
      dictionary_(std::make_unique<trace::DictionaryBuilder>()) {
  epochs_.push_back({.number = 1, .appends = {}});
}

trace::v1::Session SessionModel::Describe() const {
  trace::v1::Session session;
  session.set_session_id(id_);
  session.set_project("kill");
  session.set_pid(generation_);
  session.set_executable("kill_test");
  session.set_ended(ended_);
  return session;
}

bool SessionModel::AllAcknowledged() const {
  return std::all_of(epochs_.begin(), epochs_.end(), [](const SentEpoch& epoch) {
    return epoch.acknowledged == epoch.appends.size();
  });
}

void SessionModel::StartEpoch(Random& random) {
  epochs_.push_back({.number = epochs_.back().number + 1, .appends = {}});
  dictionary_ = std::make_unique<trace::DictionaryBuilder>();
  // Shifts every id, so that none means what it meant before.
  for (int64_t i = Pick(random, 0, 9); i > 0; --i) {
    const trace::StringId name = dictionary_->Intern(base::StrCat("unused ", i));
    dictionary_->Intern(trace::Op{.kind = EventKind::kApi, .name = name});
    dictionary_->Intern(trace::Lane{.kind = LaneKind::kThreadApi, .thread = uint64_t(i)});
  }
}

SentAppend& SessionModel::AddAppend() {
  SentAppend& added = epoch().appends.emplace_back();
  added.request.set_sequence(epoch().appends.size());
  return added;
}

const SentAppend& SessionModel::MakeAppend(Random& random) {
  SentAppend& made = AddAppend();
  now_ns_ += Pick(random, 1'000, 40'000'000);
  for (int64_t blocks = Pick(random, 0, 4); blocks > 0; --blocks) AddBlock(random, made);
  if (!made.events.empty() && OneIn(random, 8)) {
    trace::v1::TimedLoss& loss = *made.request.add_losses();
    loss.set_kind(trace::v1::EVENT_KIND_KERNEL);
    loss.set_count(static_cast<uint64_t>(Pick(random, 1, 5)));
    loss.set_session_ns(now_ns_);
    made.losses = loss.count();
  }
  // Late blocks reopen an ended session, whether its writer says so or not.
  if (ended_ && OneIn(random, 2)) {
    ended_ = false;
    *made.request.mutable_session() = Describe();
  }
  const trace::DictionaryDelta delta = dictionary_->TakeDelta();
  if (!delta.empty()) trace::ToProto(delta, *made.request.mutable_dictionary());
  return made;
}

const SentAppend& SessionModel::MakeEnd() {
  ended_ = true;
  SentAppend& made = AddAppend();
  *made.request.mutable_session() = Describe();
  return made;
}

void SessionModel::AddBlock(Random& random, SentAppend& to) {
  const size_t lane = random() % KillLanes().size();
  const trace::LaneId lane_id = dictionary_->Intern(KillLanes()[lane]);
  trace::EventColumns columns;
  trace::OpId op = 0;
  trace::StackId stack = 0;
  for (int64_t events = Pick(random, 1, 120); events > 0; --events) {
    EventFacts facts;
    const trace::Event event = MakeEvent(random, lane, facts);
    op = std::max(op, event.op);
    stack = std::max(stack, event.stack);
    columns.Add(event);
    to.events[event.correlation] = std::move(facts);
  }
  if (!OneIn(random, 5)) columns.SortByStart();
  to.request.add_blocks(
      *trace::EncodeBlock(columns, {.lane = lane_id, .needs = dictionary_->NeedsOf(op, stack)}));
}

trace::Event SessionModel::MakeEvent(Random& random, size_t lane, EventFacts& facts) {
  facts.lane = static_cast<int>(lane);
  facts.kind = kKindOfLane[lane];
  facts.name = base::StrCat(trace::ToString(facts.kind), " ", random() % (5 + next_event_ / 50));
  facts.module = facts.name + ".py";
  // Some are late: by little, or by as much as there is.
  const int64_t late = OneIn(random, 10)   ? Pick(random, 0, now_ns_ - 1'000'000'000)
                       : OneIn(random, 10) ? Pick(random, 0, 1'000'000)
                                           : 0;
  facts.start_ns = now_ns_ - late;
  facts.duration_ns = lane == kMemoryLane || OneIn(random, 6) ? 0 : Pick(random, 1, 90'000);
  if (!OneIn(random, 4)) now_ns_ += Pick(random, 0, 60'000);
  trace::Event event;
  event.op =
      dictionary_->Intern(trace::Op{.kind = facts.kind, .name = dictionary_->Intern(facts.name)});
  const trace::FrameId frame =
      dictionary_->Intern(trace::Frame{.module = dictionary_->Intern(facts.module)});
  event.stack = dictionary_->Intern(trace::StackNode{.parent = 0, .frame = frame});
  event.start_ns = facts.start_ns;
  event.duration_ns = facts.duration_ns;
  event.correlation = generation_ << 32 | ++next_event_;
  if (lane == kMemoryLane) {
    event.bytes = Pick(random, -1'000, 1'000);
    facts.level_bytes = Pick(random, 0, 1'000'000);
    event.level_bytes = facts.level_bytes;
  }
  return event;
}

}  // namespace nanolane::testing
