#include "services/store/memory_store.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/paging.h"

namespace nanolane::store {
namespace {

template <typename Entries>
void AppendNew(uint32_t first, const Entries& from, Entries& to) {
  const int have = to.size();
  for (int i = 0; i < from.size(); ++i) {
    if (static_cast<int>(first) + i > have) *to.Add() = from[i];
  }
}

// Keeps the entries with ids above `have` up to `need`; returns the id of the first of them.
template <typename Entries>
uint32_t Cut(uint32_t have, uint32_t need, Entries& entries) {
  const auto size = static_cast<uint32_t>(entries.size());
  const auto end = static_cast<int>(std::min(size, need));
  entries.DeleteSubrange(end, entries.size() - end);
  entries.DeleteSubrange(0, std::min(entries.size(), static_cast<int>(std::min(size, have))));
  return have + 1;
}

}  // namespace

absl::StatusOr<MemoryStore::Kept*> MemoryStore::Find(const std::string& session_id) {
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return NoSuchSession(session_id);
  return &found->second;
}

uint64_t MemoryStore::StoredBytes() const {
  base::MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [id, kept] : sessions_) {
    bytes += StoredBytesOf(kept.ledger.summary());
  }
  return bytes;
}

void MemoryStore::Commit(std::span<AppendItem> items) {
  const bool full = max_bytes_ > 0 && StoredBytes() >= max_bytes_;
  base::MutexLock lock(mutex_);
  for (AppendItem& item : items) {
    if (full && item.request->blocks_size() > 0) {
      item.status = absl::ResourceExhaustedError("the store is full");
    } else {
      CommitOne(item);
    }
  }
}

void MemoryStore::CommitOne(AppendItem& item) {
  auto found = sessions_.find(item.session_id);
  if (found == sessions_.end()) {
    if (!item.request->has_session()) {
      item.status = absl::FailedPreconditionError("the first message must name the session");
      return;
    }
    found = sessions_
                .emplace(item.session_id,
                         Kept{.ledger = SessionLedger(item.request->session(), clock_.UnixNanos()),
                              .blocks = {},
                              .dictionaries = {},
                              .log = {},
                              .entries = {}})
                .first;
  }
  Kept& kept = found->second;
  const auto applied = kept.ledger.Apply(item.epoch, *item.request, clock_.UnixNanos());
  item.status = applied.status();
  if (!applied.ok()) {
    if (kept.ledger.epochs().empty()) sessions_.erase(found);
    return;
  }
  item.acknowledged_sequence = kept.ledger.SequenceOf(item.epoch);
  if (applied->duplicate) return;
  const DictionaryDelta& delta = item.request->dictionary();
  DictionaryDelta& whole = kept.dictionaries[item.epoch];
  AppendNew(delta.first_string(), delta.strings(), *whole.mutable_strings());
  AppendNew(delta.first_frame(), delta.frames(), *whole.mutable_frames());
  AppendNew(delta.first_stack(), delta.stacks(), *whole.mutable_stacks());
  AppendNew(delta.first_op(), delta.ops(), *whole.mutable_ops());
  whole.mutable_symbols()->MergeFrom(delta.symbols());
  for (const PlacedBlock& block : applied->blocks) {
    KeptBlock& to = kept.blocks.emplace_back();
    to.key = {.lane_id = block.lane_id,
              .start_ns = block.header.first_ns,
              .epoch = item.epoch,
              .sequence = item.request->sequence(),
              .index = static_cast<uint32_t>(block.index)};
    v1::StoredBlock& stored = to.block;
    stored.set_lane_id(block.lane_id);
    stored.set_epoch(item.epoch);
    stored.set_events(block.header.event_count);
    stored.set_start_ns(block.header.first_ns);
    stored.set_end_ns(block.header.last_ns);
    stored.set_data(item.request->blocks(block.index));
    stored.set_data_size(static_cast<uint32_t>(stored.data().size()));
  }
  kept.log[kept.ledger.commits()] = std::make_unique<v1::AppendRequest>(*item.request);
  kept.entries[kept.ledger.commits()] = applied->log;
}

absl::StatusOr<v1::ListSessionsResponse> MemoryStore::ListSessions(
    const v1::ListSessionsRequest& request) {
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(request.page_token()));
  base::MutexLock lock(mutex_);
  std::vector<const SessionSummary*> newest;
  for (const auto& [id, kept] : sessions_) newest.push_back(&kept.ledger.summary());
  std::sort(newest.begin(), newest.end(), [](const SessionSummary* a, const SessionSummary* b) {
    return PageStart::Of(*a) < PageStart::Of(*b);
  });
  v1::ListSessionsResponse response;
  for (const SessionSummary* summary : newest) {
    if (PageStart::Of(*summary) < start || !Matches(*summary, request)) continue;
    if (response.sessions_size() == PageSize(request.page_size())) {
      response.set_next_page_token(PageStart::Of(*summary).Token());
      break;
    }
    *response.add_sessions() = *summary;
  }
  return response;
}

absl::StatusOr<v1::GetSessionResponse> MemoryStore::GetSession(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return NoSuchSession(session_id);
  v1::GetSessionResponse response;
  *response.mutable_summary() = found->second.ledger.summary();
  for (const auto& [epoch, state] : found->second.ledger.epochs()) response.add_epochs(epoch);
  return response;
}

absl::StatusOr<v1::ListLanesResponse> MemoryStore::ListLanes(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return NoSuchSession(session_id);
  v1::ListLanesResponse response;
  for (const v1::StoredLane& lane : found->second.ledger.lanes()) *response.add_lanes() = lane;
  return response;
}

absl::Status MemoryStore::ReadBlocks(const v1::ReadBlocksRequest& request,
                                     const SelectionVisitor& selected, const BlockVisitor& visit) {
  std::vector<v1::StoredBlock> blocks;
  {
    base::MutexLock lock(mutex_);
    const auto found = sessions_.find(request.session_id());
    if (found == sessions_.end()) return NoSuchSession(request.session_id());
    for (const KeptBlock& kept : found->second.blocks) {
      if (kept.current && Wants(request, kept.block)) blocks.push_back(kept.block);
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(a.start_ns(), a.lane_id()) < std::make_tuple(b.start_ns(), b.lane_id());
  });
  uint64_t events = 0;
  for (const v1::StoredBlock& block : blocks) events += block.events();
  selected(events);
  for (v1::StoredBlock& block : blocks) {
    if (!request.with_data()) block.clear_data();
    if (!visit(std::move(block))) break;
  }
  return absl::OkStatus();
}

absl::Status MemoryStore::ReadDictionary(const std::string& session_id,
                                         const DictionaryRange& range,
                                         const DictionaryVisitor& visit) {
  DictionaryDelta delta;
  {
    base::MutexLock lock(mutex_);
    const auto found = sessions_.find(session_id);
    if (found == sessions_.end()) return NoSuchSession(session_id);
    const auto whole = found->second.dictionaries.find(range.epoch);
    if (whole != found->second.dictionaries.end()) delta = whole->second;
  }
  delta.set_first_string(Cut(range.have.strings, range.need.strings, *delta.mutable_strings()));
  delta.set_first_frame(Cut(range.have.frames, range.need.frames, *delta.mutable_frames()));
  delta.set_first_stack(Cut(range.have.stacks, range.need.stacks, *delta.mutable_stacks()));
  delta.set_first_op(Cut(range.have.ops, range.need.ops, *delta.mutable_ops()));
  google::protobuf::RepeatedPtrField<trace::v1::Symbol> symbols;
  symbols.Swap(delta.mutable_symbols());
  for (trace::v1::Symbol& symbol : symbols) {
    const uint32_t last = delta.first_frame() + static_cast<uint32_t>(delta.frames_size());
    const bool readable = std::max(symbol.function(), symbol.file()) <= range.need.strings;
    if (symbol.frame() >= delta.first_frame() && symbol.frame() < last && readable) {
      delta.add_symbols()->Swap(&symbol);
    }
  }
  visit(std::move(delta));
  return absl::OkStatus();
}

absl::Status MemoryStore::Delete(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  sessions_.erase(session_id);
  return absl::OkStatus();
}

}  // namespace nanolane::store
