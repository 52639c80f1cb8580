// The collector's side of a ring: reads what threads of the process wrote, in the order in which
// they took their pages, and gives a page back once all of it is safe elsewhere.
//
// Hostile ground: the other side may write anything anywhere at any time. The reader keeps its own
// state of every page, reads each index once, bounds it, and works on copies. What makes no sense
// ends its page: it is counted, and the rest of the page is left alone. One pass costs at most the
// ring's size, whatever the ring says.
//
// A page is given back when it is closed, read to its end, every event in it is in an append that
// is safe (Mark, SetSafe), and no launch in it is still wanted (Pin, Unpin); when fewer than a
// quarter of the pages are free, launches that are wanted no longer hold theirs.
//
// Marks make a restart exact. The sequence of an event's append stands beside it in the ring before
// the append leaves, so that whoever adopts the ring knows what is stored. Adoption turns the marks
// of one epoch into kMarkStored or 0 before a new epoch begins, so that sequences of different
// epochs never meet. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "services/collector/ring/fact_reader.h"
#include "services/collector/ring/ring_counters.h"
#include "services/collector/ring/ring_memory.h"
#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

// A mark that says "stored, in an epoch before this one".
inline constexpr uint32_t kMarkStored = 0xFFFFFFFF;

class RingReader {
 public:
  // Of a new ring, or of an adopted one that Adopt follows for.
  explicit RingReader(RingMemory& ring);

  // Once, before the first Read: what was marked 1..stored_sequence by the epoch that the ring
  // names is stored, the rest will be read. Being interrupted anywhere in it does no harm.
  void Adopt(uint64_t stored_sequence, uint64_t new_epoch);
  // The epoch that marks belong to, as the ring says.
  uint64_t writer_epoch() const;

  // One pass: new facts, and then at most `limit` records that were there when it began, so that
  // every fact that a record names comes before it. Fewer than `limit`: nothing was left.
  size_t Read(size_t limit, RingVisitor& visitor);

  // The event at `ref` is in the append with this sequence. Refs to pages that were given back
  // meanwhile are ignored, here and below.
  void Mark(const RecordRef& ref, uint64_t sequence);
  // The first device work of the launch at `ref` is in the append with this sequence.
  void MarkLaunch(const RecordRef& ref, uint64_t sequence);
  // A launch is wanted, or no longer.
  void Pin(const RecordRef& ref);
  void Unpin(const RecordRef& ref);
  // Appends up to this sequence are safe.
  void SetSafe(uint64_t sequence);
  // Gives back what can be given back; the number of pages.
  size_t Release();

  // The process writes no more, and everything has been read.
  bool Finished() const { return finished_; }

  const RingCounters& UpdateCounters();
  const RingCounters& counters() const { return counters_; }
  RingStatus status() const { return ReadStatus(ring_.header()); }
  // Pages and fact arenas that made no sense.
  uint64_t corrupt_pages() const { return corrupt_pages_; }
  bool corrupt_facts() const { return facts_.corrupt(); }
  // Records that adoption found stored.
  uint64_t skipped() const { return skipped_; }
  // Records handed out or skipped, by bit number of wire::Kinds.
  const RingCounters::ByKind& records() const { return records_; }

 private:
  // What is known of one page since it was last taken.
  struct Page {
    uint64_t claim = 0;
    uint64_t needs_sequence = 0;  // appends that its events are in
    uint32_t used = 0;
    uint32_t consumed = 0;
    uint32_t unmarked = 0;  // events handed out that are in no append
    uint32_t pinned = 0;
    bool active = false;  // taken, and not given back
    bool closed = false;
    bool corrupt = false;
  };

  // Looks at the page's header once. Whether there is something to read.
  bool Inspect(uint32_t index, uint64_t last_claim);
  void Begin(Page& page, uint64_t claim);
  void SetCorrupt(Page& page);
  // Hands out records of a page until it ends or `limit` is reached; their number.
  size_t ReadPage(uint32_t index, size_t limit, RingVisitor& visitor);
  void SweepPage(uint32_t index, uint64_t stored_sequence);
  Page* Find(const RecordRef& ref);
  void StoreSequence(Page& page, const RecordRef& ref, uint64_t sequence);
  bool CanRelease(const Page& page, bool pressed) const;

  RingMemory& ring_;
  FactReader facts_;
  RingCounters counters_;
  std::vector<Page> pages_;
  std::vector<std::pair<uint64_t, uint32_t>> plan_;  // claim and page of what has news
  uint64_t safe_sequence_ = 0;
  uint64_t adopted_claim_ = 0;  // marks in pages taken up to here are from before
  uint64_t corrupt_pages_ = 0;
  uint64_t skipped_ = 0;
  RingCounters::ByKind records_ = {};
  bool finished_ = false;
};

}  // namespace nanolane::collector
