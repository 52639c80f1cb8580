// Walks a Chrome trace: finds the list of events, hands each event to a sink, reads the facts that
// stand beside the list, and goes on behind what is malformed.
//
// Accepted: an object with "traceEvents", before or after its other keys, or a bare array of
// events. A violation of the grammar costs the event in which it stands: reading goes on at the
// next
// `},{"` with an event's key behind it. Where there is none, or the file ends early, what came
// before is kept. All of it is reported with byte offsets in the inflated data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "libs/ingest/kineto/json_scanner.h"
#include "libs/ingest/kineto/raw_event.h"
#include "libs/ingest/kineto/trace_facts.h"

namespace nanolane::ingest::kineto {

// What was wrong with the file as a whole.
struct FileTrouble {
  Oddity malformed;            // stretches, from the list of events, that were skipped
  std::string malformed_what;  // the first one's fault
  bool truncated = false;
  uint64_t truncated_offset = 0;
  uint64_t trailing_offset = 0;  // of what stands behind the trace's end; 0: nothing
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Texts of `event` are valid during the call, through scanner.View.
  virtual void Take(const RawEvent& event, const JsonScanner& scanner) = 0;
};

// Thread-compatible.
class TraceReader {
 public:
  TraceReader(ChunkSource& source, EventSink& sink) : scanner_(source), sink_(sink) {}

  // Reads to the end of the source. INVALID_ARGUMENT: not a trace at all; says what it is instead
  // and what to do.
  absl::Status Read();

  const TraceFacts& facts() const { return facts_; }
  const FileTrouble& trouble() const { return trouble_; }
  const JsonScanner& scanner() const { return scanner_; }
  uint64_t events() const { return events_; }

 private:
  absl::Status CheckBeginning();
  // True: the object's end was read.
  bool ReadObject();
  void ReadList();
  // The '{' is next. False: broken, and no further event was found.
  bool ReadListElement();
  // Behind an error: notes it and searches for the next event. False: there is none.
  bool Recover();
  void NoteMalformed(const std::string& what, uint64_t offset);
  absl::Status NoEvents() const;

  JsonScanner scanner_;
  EventSink& sink_;
  TraceFacts facts_;
  FileTrouble trouble_;
  uint64_t events_ = 0;
  bool found_list_ = false;
  bool exhausted_ = false;         // the input was searched to its end
  bool recovering_ = false;        // the next '{' may stand within a broken event
  std::vector<std::string> keys_;  // the first few at the top level, for a message
};

}  // namespace nanolane::ingest::kineto
