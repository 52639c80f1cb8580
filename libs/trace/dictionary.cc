#include "libs/trace/dictionary.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/little_endian.h"

namespace nanolane::trace {
namespace {

// Bytes that are equal exactly when the ops are.
std::string CanonicalBytes(const Op& op) {
  std::string bytes;
  for (const auto part :
       {static_cast<uint8_t>(op.kind), static_cast<uint8_t>(op.family),
        static_cast<uint8_t>(op.copy_direction), static_cast<uint8_t>(op.source_memory),
        static_cast<uint8_t>(op.destination_memory), static_cast<uint8_t>(op.sync_kind),
        static_cast<uint8_t>(op.is_async)}) {
    AppendLittle(bytes, part);
  }
  AppendLittle(bytes, op.name);
  for (const uint32_t extent : op.grid) AppendLittle(bytes, extent);
  for (const uint32_t extent : op.block) AppendLittle(bytes, extent);
  AppendLittle(bytes, op.registers_per_thread);
  AppendLittle(bytes, op.static_shared_bytes);
  AppendLittle(bytes, op.dynamic_shared_bytes);
  for (const auto& [key, value] : op.attributes) {
    AppendLittle(bytes, key);
    AppendLittle(bytes, value);
  }
  return bytes;
}

std::string CanonicalBytes(const Lane& lane) {
  std::string bytes;
  AppendLittle(bytes, static_cast<uint8_t>(lane.kind));
  AppendLittle(bytes, lane.gpu_index);
  AppendLittle(bytes, lane.context);
  AppendLittle(bytes, lane.stream);
  AppendLittle(bytes, lane.thread);
  AppendLittle(bytes, static_cast<uint64_t>(lane.gpu_uuid.size()));
  bytes += lane.gpu_uuid;
  bytes += lane.domain;
  return bytes;
}

absl::Status Refused(std::string_view what) {
  return absl::InvalidArgumentError(base::StrCat("bad dictionary: ", what));
}

// Size of a table after `count` entries from id `first` on; none may be missing in between.
absl::StatusOr<uint32_t> SizeAfter(uint32_t have, uint32_t first, size_t count,
                                   std::string_view table) {
  if (count == 0) return have;
  if (first == 0 || first > have + 1) {
    return Refused(base::StrCat(table, " start at id ", first, " but ", have, " are known"));
  }
  if (first + count > kMaxDictionaryEntries) return Refused(base::StrCat("too many ", table));
  return std::max(have, static_cast<uint32_t>(first + count - 1));
}

absl::Status CheckOps(const DictionaryDelta& delta, const DictionarySizes& after) {
  for (const Op& op : delta.ops) {
    if (op.name > after.strings) return Refused("an op names an unknown string");
    if (op.attributes.size() > kMaxOpAttributes) return Refused("an op has too many attributes");
    for (const auto& [key, value] : op.attributes) {
      if (key > after.strings || value > after.strings) {
        return Refused("an op's attribute names an unknown string");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStacks(const DictionaryDelta& delta, const DictionarySizes& after) {
  for (const Frame& frame : delta.frames) {
    if (frame.module > after.strings) return Refused("a frame names an unknown string");
  }
  for (size_t i = 0; i < delta.stacks.size(); ++i) {
    const StackNode& node = delta.stacks[i];
    if (node.parent >= delta.first_stack + i) return Refused("a stack comes before its parent");
    if (node.frame == 0 || node.frame > after.frames) {
      return Refused("a stack names an unknown frame");
    }
  }
  for (const SymbolEntry& entry : delta.symbols) {
    if (entry.frame == 0 || entry.frame > after.frames) {
      return Refused("a symbol names an unknown frame");
    }
    if (entry.symbol.function > after.strings || entry.symbol.file > after.strings) {
      return Refused("a symbol names an unknown string");
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool DictionarySizes::Cover(const DictionaryNeeds& needs) const {
  return needs.strings <= strings && needs.frames <= frames && needs.stacks <= stacks &&
         needs.ops <= ops;
}

absl::StatusOr<DictionarySizes> CheckDelta(const DictionaryDelta& delta,
                                           const DictionarySizes& have) {
  DictionarySizes after;
  ASSIGN_OR_RETURN(after.strings,
                   SizeAfter(have.strings, delta.first_string, delta.strings.size(), "strings"));
  ASSIGN_OR_RETURN(after.frames,
                   SizeAfter(have.frames, delta.first_frame, delta.frames.size(), "frames"));
  ASSIGN_OR_RETURN(after.stacks,
                   SizeAfter(have.stacks, delta.first_stack, delta.stacks.size(), "stacks"));
  ASSIGN_OR_RETURN(after.ops, SizeAfter(have.ops, delta.first_op, delta.ops.size(), "ops"));
  for (const std::string& text : delta.strings) {
    if (text.size() > kMaxStringBytes) {
      return Refused(
          base::StrCat("a string of ", text.size(), " bytes; at most ", kMaxStringBytes));
    }
  }
  RETURN_IF_ERROR(CheckStacks(delta, after));
  RETURN_IF_ERROR(CheckOps(delta, after));
  for (const LaneEntry& entry : delta.lanes) {
    if (entry.id == 0) return Refused("a lane has the id 0");
  }
  return after;
}

Dictionary::Dictionary() : strings_(1), frames_(1), symbols_(1), stacks_(1), ops_(1) {}

absl::Status Dictionary::Apply(const DictionaryDelta& delta) {
  RETURN_IF_ERROR(CheckDelta(delta, sizes()).status());
  for (const LaneEntry& entry : delta.lanes) {
    const Lane* known = LaneOf(entry.id);
    if (known != nullptr && *known != entry.lane) {
      return Refused(base::StrCat("lane ", entry.id, " changes its meaning"));
    }
  }
  const auto append_new = [](auto& table, uint32_t first, const auto& entries) {
    if (entries.empty()) return;
    const size_t skip = std::min(entries.size(), table.size() - first);
    table.insert(table.end(), entries.begin() + static_cast<std::ptrdiff_t>(skip), entries.end());
  };
  append_new(strings_, delta.first_string, delta.strings);
  append_new(frames_, delta.first_frame, delta.frames);
  append_new(stacks_, delta.first_stack, delta.stacks);
  append_new(ops_, delta.first_op, delta.ops);
  symbols_.resize(frames_.size());
  for (const SymbolEntry& entry : delta.symbols) symbols_[entry.frame] = entry.symbol;
  for (const LaneEntry& entry : delta.lanes) lanes_.emplace(entry.id, entry.lane);
  return absl::OkStatus();
}

const std::string& Dictionary::String(StringId id) const {
  return id < strings_.size() ? strings_[id] : strings_[0];
}
const Op& Dictionary::OpOf(OpId id) const { return id < ops_.size() ? ops_[id] : ops_[0]; }
const Frame& Dictionary::FrameOf(FrameId id) const {
  return id < frames_.size() ? frames_[id] : frames_[0];
}
const Symbol& Dictionary::SymbolOf(FrameId id) const {
  return id < symbols_.size() ? symbols_[id] : symbols_[0];
}
const StackNode& Dictionary::Stack(StackId id) const {
  return id < stacks_.size() ? stacks_[id] : stacks_[0];
}
const Lane* Dictionary::LaneOf(LaneId id) const {
  const auto found = lanes_.find(id);
  return found == lanes_.end() ? nullptr : &found->second;
}

std::vector<FrameId> Dictionary::Frames(StackId stack) const {
  std::vector<FrameId> frames;
  // Parents are lower than children, so this ends.
  for (StackId at = stack; at != 0 && at < stacks_.size(); at = stacks_[at].parent) {
    frames.push_back(stacks_[at].frame);
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

DictionarySizes Dictionary::sizes() const {
  return {.strings = static_cast<uint32_t>(string_count()),
          .frames = static_cast<uint32_t>(frame_count()),
          .stacks = static_cast<uint32_t>(stack_count()),
          .ops = static_cast<uint32_t>(op_count())};
}

DictionaryBuilder::DictionaryBuilder()
    : op_strings_(1, 0), stack_frames_(1, 0), frame_strings_(1, 0) {}

// Each Intern hands a one-entry delta to the tables, which cannot fail: the entry refers only to
// ids that the caller got from here, and sizes stay far under the bounds.
StringId DictionaryBuilder::Intern(std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() > kMaxStringBytes) text = text.substr(0, kMaxStringBytes);
  const auto found = string_ids_.find(base::ToAbsl(text));
  if (found != string_ids_.end()) return found->second;
  const auto id = static_cast<StringId>(tables_.string_count() + 1);
  DictionaryDelta one;
  one.first_string = id;
  one.strings.emplace_back(text);
  tables_.Apply(one).IgnoreError();
  if (pending_.strings.empty()) pending_.first_string = id;
  pending_.strings.emplace_back(text);
  string_ids_.emplace(text, id);
  return id;
}

OpId DictionaryBuilder::Intern(const Op& op) {
  std::string key = CanonicalBytes(op);
  const auto found = op_ids_.find(key);
  if (found != op_ids_.end()) return found->second;
  const auto id = static_cast<OpId>(tables_.op_count() + 1);
  DictionaryDelta one;
  one.first_op = id;
  one.ops.push_back(op);
  tables_.Apply(one).IgnoreError();
  if (pending_.ops.empty()) pending_.first_op = id;
  pending_.ops.push_back(op);
  StringId highest = std::max(op_strings_.back(), op.name);
  for (const auto& [name, value] : op.attributes) highest = std::max({highest, name, value});
  op_strings_.push_back(highest);
  op_ids_.emplace(std::move(key), id);
  return id;
}

FrameId DictionaryBuilder::Intern(const Frame& frame) {
  const auto key = std::make_pair(frame.module, frame.offset);
  const auto found = frame_ids_.find(key);
  if (found != frame_ids_.end()) return found->second;
  const auto id = static_cast<FrameId>(tables_.frame_count() + 1);
  DictionaryDelta one;
  one.first_frame = id;
  one.frames.push_back(frame);
  tables_.Apply(one).IgnoreError();
  if (pending_.frames.empty()) pending_.first_frame = id;
  pending_.frames.push_back(frame);
  frame_strings_.push_back(std::max(frame_strings_.back(), frame.module));
  frame_ids_.emplace(key, id);
  return id;
}

StackId DictionaryBuilder::Intern(const StackNode& node) {
  const auto key = std::make_pair(node.parent, node.frame);
  const auto found = stack_ids_.find(key);
  if (found != stack_ids_.end()) return found->second;
  const auto id = static_cast<StackId>(tables_.stack_count() + 1);
  DictionaryDelta one;
  one.first_stack = id;
  one.stacks.push_back(node);
  tables_.Apply(one).IgnoreError();
  if (pending_.stacks.empty()) pending_.first_stack = id;
  pending_.stacks.push_back(node);
  stack_frames_.push_back(std::max(stack_frames_.back(), node.frame));
  stack_ids_.emplace(key, id);
  return id;
}

LaneId DictionaryBuilder::Intern(const Lane& lane) {
  std::string key = CanonicalBytes(lane);
  const auto found = lane_ids_.find(key);
  if (found != lane_ids_.end()) return found->second;
  const auto id = static_cast<LaneId>(lane_ids_.size() + 1);
  DictionaryDelta one;
  one.lanes.push_back({.id = id, .lane = lane});
  tables_.Apply(one).IgnoreError();
  pending_.lanes.push_back({.id = id, .lane = lane});
  lane_ids_.emplace(std::move(key), id);
  return id;
}

void DictionaryBuilder::SetSymbol(FrameId frame, const Symbol& symbol) {
  DictionaryDelta one;
  one.symbols.push_back({.frame = frame, .symbol = symbol});
  if (!tables_.Apply(one).ok()) return;
  pending_.symbols.push_back({.frame = frame, .symbol = symbol});
  // A symbol that comes after frames with higher ids raises what all of them lead to.
  const StringId highest = std::max(symbol.function, symbol.file);
  for (size_t at = frame; at < frame_strings_.size() && frame_strings_[at] < highest; ++at) {
    frame_strings_[at] = highest;
  }
}

DictionaryNeeds DictionaryBuilder::NeedsOf(OpId op, StackId stack) const {
  const FrameId frames = stack < stack_frames_.size() ? stack_frames_[stack] : 0;
  const StringId of_frames = frames < frame_strings_.size() ? frame_strings_[frames] : 0;
  const StringId of_ops = op < op_strings_.size() ? op_strings_[op] : 0;
  return {.strings = std::max(of_ops, of_frames), .frames = frames, .stacks = stack, .ops = op};
}

DictionaryDelta DictionaryBuilder::TakeDelta() {
  return std::exchange(pending_, DictionaryDelta());
}

}  // namespace nanolane::trace
