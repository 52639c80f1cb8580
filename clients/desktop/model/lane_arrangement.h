// How a person has arranged the lanes: what is expanded, pinned, moved and hidden.
//
// Everything is keyed by what a lane is (session, kind, GPU, context, stream, thread, domain), not
// by where it stands in a model: it survives a session that grows, a stream that starts anew and a
// reload. Whoever lays out rows asks; version() says when to ask again. Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "clients/desktop/model/session_facts.h"

namespace nanolane::desktop {

// A lane's identity.
std::string LaneKey(const SessionFacts& session, const trace::Lane& lane);

// The identity of what moves together in its group: a stream with its synchronizations and the
// ranges projected onto it; every other lane alone.
std::string LaneUnitKey(const SessionFacts& session, const trace::Lane& lane);

class LaneArrangement {
 public:
  // A lane that nobody has touched is `by_default`.
  bool Expanded(const std::string& lane, bool by_default) const;
  void SetExpanded(const std::string& lane, bool expanded);

  // Pinned lanes, first pinned first.
  const std::vector<std::string>& pins() const { return pins_; }
  bool Pinned(const std::string& lane) const;
  void SetPinned(const std::string& lane, bool pinned);
  void SetPins(std::vector<std::string> pins);

  bool Hidden(const std::string& lane) const { return hidden_.contains(lane); }
  void Hide(const std::string& lane);
  void ShowHidden();

  bool GroupCollapsed(const std::string& group) const { return collapsed_.contains(group); }
  void ToggleGroup(const std::string& group);

  // Whether the calls of a process' threads are shown, where they are not shown anyway.
  bool ApiShown(const std::string& session) const { return api_shown_.contains(session); }
  void ToggleApi(const std::string& session);

  // `units` of `group`, in their natural order, as they are to stand. One that was never moved, nor
  // there when others were, stands after the one that it naturally follows.
  std::vector<std::string> Ordered(const std::string& group,
                                   const std::vector<std::string>& units) const;
  void SetOrder(const std::string& group, std::vector<std::string> units);

  // Raised by every change.
  uint64_t version() const { return version_; }

 private:
  absl::flat_hash_map<std::string, bool> expanded_;
  std::vector<std::string> pins_;
  absl::flat_hash_set<std::string> hidden_;
  absl::flat_hash_set<std::string> collapsed_;
  absl::flat_hash_set<std::string> api_shown_;
  absl::flat_hash_map<std::string, std::vector<std::string>> order_;  // by group
  uint64_t version_ = 0;
};

}  // namespace nanolane::desktop
