// Makes appends of events: gathers them lane by lane, encodes full lanes into blocks, and packs the
// blocks with the dictionary entries that they need. What importers and the collector share.
//
// Blocks and appends depend on the calls alone: the same events make the same bytes. Every
// dictionary entry is in one append, before or beside the first block that needs it, so the appends
// must reach the store in the order in which they are taken. An append stays below
// kMaxAppendBytes. Thread-compatible.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/event_columns.h"
#include "nanolane/store/v1/store.pb.h"

namespace nanolane::ingest {

// What a store takes as one append, less room for the session, losses and framing.
inline constexpr size_t kMaxAppendBytes = (8 << 20) - (512 << 10);

struct BlockBuilderOptions {
  // Events of a block. Larger blocks pack better; live ones are trace::kLiveBlockEvents.
  size_t block_events = 16'384;
  // Events over all lanes that wait for their block to fill; beyond it the fullest lane is cut.
  size_t buffered_events = 256 * 1024;
  // An append is full once its blocks reach this size.
  size_t append_bytes = 256 << 10;
};

class BlockBuilder {
 public:
  using Appends = std::vector<nanolane::store::v1::AppendRequest>;

  explicit BlockBuilder(const BlockBuilderOptions& options) : options_(options) {}

  // What the events' ops, stacks and lanes are interned in.
  trace::DictionaryBuilder& dictionary() { return dictionary_; }

  // Cuts the lane, or the fullest one, where a bound is reached. On error (the codec's) the events
  // are still there.
  absl::Status Add(trace::LaneId lane, const trace::Event& event);

  // Makes blocks of everything that is buffered.
  absl::Status CutAll();

  // Appends that are full, without session, epoch and sequence; mostly none. Dictionary entries
  // that do not fit beside the blocks go ahead in appends of their own.
  Appends TakeFull();

  // As TakeFull, and what is not full, and what is new in the dictionary. Buffered events stay
  // where they are unless CutAll() was called before.
  Appends Take();

  // Events that are in no block yet.
  size_t buffered() const { return buffered_; }
  // Bytes of blocks that have not been taken.
  size_t pending_bytes() const { return full_bytes_ + pending_bytes_; }

 private:
  absl::Status CutLane(trace::LaneId lane);
  absl::Status CutFullestLane();
  // Moves what is pending, and the dictionary's news, to the full ones.
  void Close();

  const BlockBuilderOptions options_;
  trace::DictionaryBuilder dictionary_;
  // Ordered: which lane is cut, and the order of the last cuts, must be the same in every run.
  std::map<trace::LaneId, trace::EventColumns> lanes_;
  size_t buffered_ = 0;
  nanolane::store::v1::AppendRequest pending_;  // blocks alone
  size_t pending_bytes_ = 0;
  Appends full_;
  size_t full_bytes_ = 0;
};

}  // namespace nanolane::ingest
