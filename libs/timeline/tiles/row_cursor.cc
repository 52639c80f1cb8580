#include "libs/timeline/tiles/row_cursor.h"

#include <algorithm>
#include <array>

#include "libs/base/status_macros.h"

namespace nanolane::timeline {

namespace {

constexpr unsigned kSumBits = 46;  // lengths of fewer bits are summed up together with their count

}  // namespace

absl::Status RowCursor::Open(std::string_view root, RowSource& source, const LabelMap& labels) {
  source_ = &source;
  labels_ = labels;
  page_at_ = group_at_ = event_at_ = 0;
  page_open_ = group_open_ = has_last_ = false;
  passed_ = passed_ns_ = 0;
  return root_.Decode(root, NodeList::kRoot, labels);
}

absl::Status RowCursor::AdvanceTo(int64_t time_ns, LabelTally* tally) {
  while (true) {
    if (group_open_) {
      PassEvents(time_ns, tally);
      if (event_at_ < group_.count) return absl::OkStatus();
      group_open_ = false;
      ++group_at_;
    }
    const NodeList& nodes = page_open_ ? page_ : root_;
    size_t& at = page_open_ ? group_at_ : page_at_;
    if (at == nodes.size()) {
      if (!page_open_) return absl::OkStatus();
      page_open_ = false;
      ++page_at_;
      continue;
    }
    if (nodes[at].first_ns >= time_ns) return absl::OkStatus();
    // All before the last node that starts in time are passed as wholes, and so is that one if it
    // has ended: then nothing in it starts at the time or later.
    size_t to = nodes.LastStartingBefore(time_ns, at);
    const bool ended = nodes[to].last_ns < time_ns;
    if (ended) ++to;
    RETURN_IF_ERROR(PassNodes(nodes, at, to, tally));
    at = to;
    if (!ended) RETURN_IF_ERROR(page_open_ ? OpenGroup() : OpenPage());
  }
}

void RowCursor::PassEvents(int64_t time_ns, LabelTally* tally) {
  const size_t from = event_at_;
  // Halving without branches, which would be unpredictable. The first `to` start before the time.
  size_t to = from;
  for (size_t left = group_.count - from; left > 0;) {
    const size_t half = (left + 1) / 2;
    to += group_.start_ns[to + half - 1] < time_ns ? half : 0;
    left -= half;
  }
  if (from == to) return;
  uint64_t length = 0;  // in a register, as the member would not be
  for (size_t i = from; i < to; ++i) length += group_.length[i];
  passed_ns_ += length;
  if (tally != nullptr) AddEvents(from, to, *tally);
  last_ = group_.At(to - 1);
  has_last_ = true;
  event_at_ = to;
  passed_ += to - from;
}

void RowCursor::AddEvents(size_t from, size_t to, LabelTally& tally) {
  const bool many = to - from >= 2 * group_.label_count && group_.length_bits >> kSumBits == 0;
  if (many) {
    AddManyEvents(from, to, tally);
  } else {
    tally.AddMany(
        to - from, [&](size_t i) { return group_.labels[group_.label[from + i]]; },
        [&](size_t i) { return group_.length[from + i]; });
  }
  // The group's longest, where it is among them; events of one start are never parted by a time.
  const Longest& of_group = page_[group_at_].longest;
  if (of_group.length > 0 && group_.start_ns[from] <= of_group.start_ns &&
      of_group.start_ns <= group_.start_ns[to - 1]) {
    return tally.longest.Include(of_group);
  }
  size_t longest = from;
  uint64_t greatest = group_.length[from];
  for (size_t i = from + 1; i < to; ++i) {
    if (group_.length[i] <= greatest) continue;  // the earliest of several
    greatest = group_.length[i];
    longest = i;
  }
  const auto include = [&](size_t i) {
    tally.longest.Include(
        {group_.length[i], group_.start_ns[i], group_.labels[group_.label[i]], true});
  };
  include(longest);
  if (greatest > 0) return;
  for (size_t i = from + 1; i < to; ++i) include(i);  // instants may start together
}

// First by the group's own few labels: the number of events above kCountBit, their length below.
void RowCursor::AddManyEvents(size_t from, size_t to, LabelTally& tally) {
  constexpr unsigned kCountBit = kSumBits + 8;  // 256 lengths of kSumBits
  constexpr uint64_t kOne = uint64_t{1} << kCountBit;
  std::array<uint64_t, kGroupEvents> sums;
  std::fill_n(sums.begin(), group_.label_count, 0);
  for (size_t i = from; i < to; ++i) sums[group_.label[i]] += group_.length[i] + kOne;
  for (size_t i = 0; i < group_.label_count; ++i) {
    if (sums[i] != 0) tally.Add(group_.labels[i], sums[i] & (kOne - 1));
  }
}

absl::Status RowCursor::PassNodes(const NodeList& nodes, size_t from, size_t to,
                                  LabelTally* tally) {
  if (from == to) return absl::OkStatus();
  uint64_t length = 0;
  for (size_t i = from; i < to; ++i) length += nodes[i].total;
  passed_ns_ += length;
  passed_ += nodes.EventsBefore(to) - nodes.EventsBefore(from);
  has_last_ = false;
  return tally == nullptr ? absl::OkStatus() : nodes.AddTo(*tally, from, to);
}

absl::Status RowCursor::OpenPage() {
  ASSIGN_OR_RETURN(const std::string_view bytes, source_->Page(static_cast<uint32_t>(page_at_)));
  RETURN_IF_ERROR(page_.Decode(bytes, NodeList::kPage, labels_));
  if (page_.events() != root_.EventsOf(page_at_) || page_.kind() != root_.kind()) {
    return BadRow("a page that is not its root's");
  }
  page_open_ = true;
  group_at_ = 0;
  return absl::OkStatus();
}

absl::Status RowCursor::OpenGroup() {
  const auto number = static_cast<uint32_t>(page_at_ * kPageGroups + group_at_);
  ASSIGN_OR_RETURN(const std::string_view bytes, source_->Group(number));
  RETURN_IF_ERROR(group_.Decode(bytes, page_.kind(), page_.EventsOf(group_at_)));
  for (size_t i = 0; i < group_.label_count; ++i) {
    if (!labels_.wanted) {
      group_.labels[i] = 0;
      continue;
    }
    if (group_.labels[i] >= labels_.query_label_of.size()) return BadRow("a label out of range");
    group_.labels[i] = labels_.query_label_of[group_.labels[i]];
  }
  group_open_ = true;
  event_at_ = 0;
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
