// Dictionaries: strings, frames, symbols, stacks, ops, lanes of one writer epoch.
//
// DictionaryBuilder is the writer's side: it interns values into dense ids. Dictionary is the
// reader's side: append-only tables filled from DictionaryDelta batches, in id order. A delta
// carries consecutive entries of each table, so that a table is described by its size alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/model.h"

namespace nanolane::trace {

// Bounds on what comes from outside.
inline constexpr size_t kMaxStringBytes = 1 << 20;
inline constexpr size_t kMaxDictionaryEntries = 1 << 28;
inline constexpr size_t kMaxOpAttributes = 256;

struct SymbolEntry {
  FrameId frame = 0;
  Symbol symbol;
};

struct LaneEntry {
  LaneId id = 0;
  Lane lane;
};

// New entries of each table. `first_x` is the id of the first entry of `x`; symbols and lanes name
// their own ids, because symbols come late and lanes are few.
struct DictionaryDelta {
  StringId first_string = 1;
  std::vector<std::string> strings;
  FrameId first_frame = 1;
  std::vector<Frame> frames;
  StackId first_stack = 1;
  std::vector<StackNode> stacks;
  OpId first_op = 1;
  std::vector<Op> ops;
  std::vector<SymbolEntry> symbols;
  std::vector<LaneEntry> lanes;

  bool empty() const {
    return strings.empty() && frames.empty() && stacks.empty() && ops.empty() && symbols.empty() &&
           lanes.empty();
  }
};

// How many entries each table has, without the null entry: for those who keep no tables.
struct DictionarySizes {
  uint32_t strings = 0;
  uint32_t frames = 0;
  uint32_t stacks = 0;
  uint32_t ops = 0;

  bool operator==(const DictionarySizes&) const = default;
  // Whether every entry that `needs` names is there.
  bool Cover(const DictionaryNeeds& needs) const;
};

// The sizes after `delta` has been added to tables of sizes `have`. Entries that are already there
// are fine; a gap, an id that refers forward or nowhere, or a value over its bound is
// INVALID_ARGUMENT. Lanes are checked for the id 0 alone.
absl::StatusOr<DictionarySizes> CheckDelta(const DictionaryDelta& delta,
                                           const DictionarySizes& have);

// Reader's tables. Index 0 of each is the null entry. Thread-compatible.
class Dictionary {
 public:
  Dictionary();

  // Adds the entries of `delta`. Entries that are already there are skipped; a gap, an id that
  // refers forward, or a value over its bound is INVALID_ARGUMENT, and nothing is added.
  absl::Status Apply(const DictionaryDelta& delta);

  const std::string& String(StringId id) const;  // "" when unknown
  const Op& OpOf(OpId id) const;                 // null op when unknown
  const std::string& OpName(OpId id) const { return String(OpOf(id).name); }
  const Frame& FrameOf(FrameId id) const;
  const Symbol& SymbolOf(FrameId id) const;  // null symbol when not resolved
  const StackNode& Stack(StackId id) const;
  const Lane* LaneOf(LaneId id) const;  // null when unknown

  // Frames of a stack, outermost first.
  std::vector<FrameId> Frames(StackId stack) const;

  size_t string_count() const { return strings_.size() - 1; }
  size_t frame_count() const { return frames_.size() - 1; }
  size_t stack_count() const { return stacks_.size() - 1; }
  size_t op_count() const { return ops_.size() - 1; }
  const absl::flat_hash_map<LaneId, Lane>& lanes() const { return lanes_; }
  const std::vector<Op>& ops() const { return ops_; }

  DictionarySizes sizes() const;

 private:
  std::vector<std::string> strings_;
  std::vector<Frame> frames_;
  std::vector<Symbol> symbols_;  // by frame
  std::vector<StackNode> stacks_;
  std::vector<Op> ops_;
  absl::flat_hash_map<LaneId, Lane> lanes_;
};

// Writer's side. Interning the same value again gives the same id. Thread-compatible.
class DictionaryBuilder {
 public:
  DictionaryBuilder();

  StringId Intern(std::string_view text);
  OpId Intern(const Op& op);
  FrameId Intern(const Frame& frame);
  StackId Intern(const StackNode& node);
  LaneId Intern(const Lane& lane);
  void SetSymbol(FrameId frame, const Symbol& symbol);

  const Dictionary& tables() const { return tables_; }

  // The highest string and frame ids that ops 1..op and stacks 1..stack lead to.
  DictionaryNeeds NeedsOf(OpId op, StackId stack) const;

  // Everything that was added since the last call.
  DictionaryDelta TakeDelta();

 private:
  Dictionary tables_;
  DictionaryDelta pending_;
  absl::flat_hash_map<std::string, StringId> string_ids_;
  absl::flat_hash_map<std::string, OpId> op_ids_;  // by canonical bytes
  absl::flat_hash_map<std::pair<StringId, uint64_t>, FrameId> frame_ids_;
  absl::flat_hash_map<std::pair<StackId, FrameId>, StackId> stack_ids_;
  absl::flat_hash_map<std::string, LaneId> lane_ids_;  // by canonical bytes
  std::vector<StringId> op_strings_;                   // [op]: highest string of ops 1..op
  std::vector<FrameId> stack_frames_;                  // [stack]: highest frame of stacks 1..stack
  std::vector<StringId> frame_strings_;  // [frame]: highest string of frames and symbols 1..frame
};

}  // namespace nanolane::trace
