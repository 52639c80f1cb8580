#include "clients/desktop/model/timeline_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace nanolane::desktop {

namespace {

// Far more changes than one model sees.
constexpr int kGenerationShift = 40;

// What headers of the rows are made of.
bool SameProcess(const SessionFacts& a, const SessionFacts& b) {
  return a.executable == b.executable && a.pid == b.pid &&
         std::equal(a.gpus.begin(), a.gpus.end(), b.gpus.begin(), b.gpus.end(),
                    [](const GpuFacts& x, const GpuFacts& y) {
                      return x.index == y.index && x.uuid == y.uuid && x.name == y.name;
                    });
}

}  // namespace

TimelineModel::TimelineModel(uint64_t generation)
    : generation_(generation),
      version_(generation << kGenerationShift),
      shape_version_(generation << kGenerationShift),
      dictionary_version_(generation << kGenerationShift) {}

void TimelineModel::Apply(LoaderMessage message) {
  if (phase_ == Phase::kFailed) return;
  ++version_;
  const absl::Status status =
      std::visit([this](auto&& taken) { return Take(std::move(taken)); }, std::move(message));
  if (!status.ok()) {
    phase_ = Phase::kFailed;
    status_ = status;
  }
}

absl::Status TimelineModel::Take(StreamOpened opened) {
  phase_ = Phase::kLoading;
  followed_ = opened.live;
  expected_ = opened.expected_events;
  is_part_ = opened.is_part;
  part_ = {opened.part_start_ns, opened.part_end_ns};
  sessions_ = std::move(opened.sessions);
  ++shape_version_;
  for (LaneFacts& facts : opened.lanes) SetLane(std::move(facts));
  SetExtent();
  return absl::OkStatus();
}

void TimelineModel::SetExtent() {
  bool first = true;
  for (const SessionFacts& session : sessions_) {
    if (session.events == 0) continue;
    extent_.start_ns = first ? session.start_ns : std::min(extent_.start_ns, session.start_ns);
    extent_.end_ns = first ? session.end_ns : std::max(extent_.end_ns, session.end_ns);
    first = false;
  }
}

void TimelineModel::SetLane(LaneFacts facts) {
  const auto [found, added] = lane_of_id_.try_emplace({facts.session, facts.id}, lanes_.size());
  if (added) {
    auto lane = std::make_unique<LaneModel>();
    lane->rows = LaneRows(facts.lane.kind);
    lane->version = generation_ << kGenerationShift;
    lanes_.push_back(std::move(lane));
  }
  LaneModel& lane = *lanes_[found->second];
  // Lanes without events have no row.
  if (added || lane.facts.label != facts.label || (lane.facts.events == 0) != (facts.events == 0)) {
    ++shape_version_;
  }
  lane.facts = std::move(facts);
}

absl::Status TimelineModel::Take(LanesGrew grew) {
  for (LaneFacts& facts : grew.lanes) {
    const auto known = lane_of_id_.find({facts.session, facts.id});
    if (known != lane_of_id_.end() && lanes_[known->second]->facts.lane.kind != facts.lane.kind) {
      return absl::DataLossError(absl::StrCat("lane ", facts.id, " has become another one"));
    }
    SetLane(std::move(facts));
  }
  return absl::OkStatus();
}

absl::Status TimelineModel::Take(StepEnded step) {
  if (step.session.has_value()) {
    if (sessions_.size() != 1) return absl::InternalError("a step of a session that is not open");
    if (!SameProcess(sessions_.front(), *step.session)) ++shape_version_;
    if (phase_ == Phase::kLive) NoteLosses(sessions_.front(), *step.session);
    expected_ = step.session->events;
    sessions_.front() = *std::move(step.session);
    SetExtent();
  }
  if (step.caught_up && phase_ == Phase::kLoading) phase_ = Phase::kLive;
  return absl::OkStatus();
}

void TimelineModel::NoteLosses(const SessionFacts& before, const SessionFacts& now) {
  for (const trace::Loss& loss : now.losses) {
    uint64_t known = 0;
    for (const trace::Loss& old : before.losses) {
      if (old.kind == loss.kind && old.reason == loss.reason) known = old.count;
    }
    if (loss.count <= known) continue;
    const timeline::Window when{before.end_ns, std::max(before.end_ns, now.end_ns)};
    const trace::Loss added{.kind = loss.kind, .reason = loss.reason, .count = loss.count - known};
    // What goes on without a pause is one stretch, so that they stay few.
    const auto same = std::find_if(
        seen_losses_.rbegin(), seen_losses_.rend(), [&added, &when](const SeenLoss& seen) {
          return seen.loss.kind == added.kind && seen.loss.reason == added.reason &&
                 seen.when.end_ns == when.start_ns;
        });
    if (same == seen_losses_.rend()) {
      seen_losses_.push_back({0, added, when});
    } else {
      same->loss.count += added.count;
      same->when.end_ns = when.end_ns;
    }
  }
}

absl::Status TimelineModel::Take(const Interrupted& /*interrupted*/) { return absl::OkStatus(); }

uint32_t TimelineModel::EpochOf(uint32_t session, uint64_t epoch) {
  const auto [found, added] =
      epoch_of_id_.try_emplace({session, epoch}, static_cast<uint32_t>(epochs_.size()));
  if (added) {
    epochs_.push_back(std::make_unique<Epoch>());
    epochs_.back()->ops.resize(1);
  }
  return found->second;
}

absl::Status TimelineModel::Take(const DictionaryEntries& entries) {
  ++dictionary_version_;
  Epoch& epoch = *epochs_[EpochOf(entries.session, entries.epoch)];
  RETURN_IF_ERROR(epoch.dictionary.Apply(entries.delta));
  for (size_t op = epoch.ops.size(); op <= epoch.dictionary.op_count(); ++op) {
    const trace::Op& facts = epoch.dictionary.OpOf(static_cast<trace::OpId>(op));
    epoch.ops.push_back({names_.Intern(epoch.dictionary.String(facts.name)),
                         trace::CategoryOf(facts.kind, facts.family, facts.copy_direction)});
  }
  return absl::OkStatus();
}

absl::StatusOr<EventStore::Block> TimelineModel::Named(const Epoch& epoch,
                                                       BlockArrived& block) const {
  EventStore::Block named{.dictionary = 0,
                          .packed = std::move(block.packed),
                          .start_ns = std::move(block.columns.start_ns),
                          .duration_ns = std::move(block.columns.duration_ns),
                          .name = {},
                          .category = {}};
  named.name.reserve(block.columns.op.size());
  named.category.reserve(block.columns.op.size());
  for (const trace::OpId op : block.columns.op) {
    if (op >= epoch.ops.size()) {
      return absl::DataLossError(absl::StrCat("a block names op ", op, ", which was not sent"));
    }
    named.name.push_back(epoch.ops[op].name);
    named.category.push_back(epoch.ops[op].category);
  }
  return named;
}

void TimelineModel::Tally(const EventStore::Block& block, LaneModel& lane) {
  name_totals_.resize(names_.size());
  for (size_t i = 0; i < block.name.size(); ++i) {
    NameTotal& total = name_totals_[block.name[i]];
    ++total.events;
    total.duration_ns += std::max<int64_t>(block.duration_ns[i], 0);
    const auto category = static_cast<size_t>(block.category[i]);
    lane.categories |= 1U << category;
    ++lane.category_events[category];
  }
}

absl::Status TimelineModel::Take(BlockArrived block) {
  const auto found = lane_of_id_.find({block.session, block.lane});
  if (found == lane_of_id_.end()) {
    return absl::DataLossError(
        absl::StrCat("a block names lane ", block.lane, ", which was not sent"));
  }
  if (block.expected_events > 0) expected_ = block.expected_events;
  LaneModel& lane = *lanes_[found->second];
  const uint32_t epoch = EpochOf(block.session, block.epoch);
  ASSIGN_OR_RETURN(EventStore::Block named, Named(*epochs_[epoch], block));
  named.dictionary = epoch;
  const bool was_empty = lane.events.size() == 0;
  const size_t rows_before = lane.rows.depth();
  lane.rows.Append(named, block.columns);
  received_ += named.start_ns.size();
  Tally(named, lane);
  lane.events.Append(std::move(named));
  ++lane.version;
  if (was_empty || lane.rows.depth() != rows_before) ++shape_version_;
  return absl::OkStatus();
}

absl::Status TimelineModel::Take(const StreamEnded& ended) {
  RETURN_IF_ERROR(ended.status);
  phase_ = Phase::kComplete;
  return absl::OkStatus();
}

uint64_t TimelineModel::lost_events() const {
  uint64_t lost = 0;
  for (const SessionFacts& session : sessions_) {
    for (const trace::Loss& loss : session.losses) lost += loss.count;
  }
  return lost;
}

uint64_t TimelineModel::left_out_events() const {
  uint64_t left_out = 0;
  for (const SessionFacts& session : sessions_) {
    for (const trace::Loss& loss : session.left_out) left_out += loss.count;
  }
  return left_out;
}

}  // namespace nanolane::desktop
