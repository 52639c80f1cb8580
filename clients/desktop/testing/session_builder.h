// Builds sessions for tests as the query service would stream them: real dictionaries, blocks of
// the real codec, real messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "clients/desktop/model/session_facts.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/event_columns.h"
#include "nanolane/query/v1/query.pb.h"

namespace nanolane::desktop {

class SessionBuilder {
 public:
  explicit SessionBuilder(std::string session_id = std::string(32, 'a'));

  // What the session says of itself; change it before Messages().
  trace::v1::Session& session() { return session_; }
  trace::DictionaryBuilder& dictionary() { return dictionary_; }

  trace::LaneId AddLane(const trace::Lane& lane);
  // A kernel op of this name; its family comes from the name.
  trace::OpId AddKernel(const std::string& name);
  trace::OpId AddOp(trace::EventKind kind, const std::string& name);
  void Add(trace::LaneId lane, const trace::Event& event) { lanes_[lane].Add(event); }
  size_t events() const;
  const std::map<trace::LaneId, trace::EventColumns>& lanes() const { return lanes_; }
  const trace::Dictionary& tables() const { return dictionary_.tables(); }
  // Drops the events of which `keep` says no.
  void KeepEvents(const std::function<bool(const trace::EventColumns&, size_t)>& keep);

  trace::v1::SessionSummary Summary() const;
  // A lane as if these were its events.
  query::v1::LaneInfo InfoOf(trace::LaneId id, const trace::EventColumns& events) const;
  // The whole stream: header, dictionaries, blocks of `block_events` events, end.
  std::vector<query::v1::StreamTimelineResponse> Messages(size_t block_events = 4'096) const;

 private:
  trace::v1::Session session_;
  trace::DictionaryBuilder dictionary_;
  std::map<trace::LaneId, trace::EventColumns> lanes_;
};

// The messages as the loader would hand them over.
std::vector<LoaderMessage> LoaderMessages(const SessionBuilder& builder,
                                          size_t block_events = 4'096);

// Two streams, their synchronizations, NVTX ranges, memory: a few hundred events that look like a
// training step repeated. The same every time.
SessionBuilder SmallSession();

// `events` kernels on `lanes` streams, back to back with gaps, some of no length, some overlapping.
SessionBuilder LargeSession(size_t lanes, size_t events);

}  // namespace nanolane::desktop
