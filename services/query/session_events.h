// Events of a session, decoded, with names: what statistics and search go through.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/event_columns.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

// Strings and ops of every epoch of a session that its blocks come from, read as they are needed.
class NameTables {
 public:
  NameTables(std::string session_id, StoreReader& store)
      : session_id_(std::move(session_id)), store_(store) {}

  // The tables of an epoch, with at least what `needs` names of strings and ops (not of stacks and
  // frames). Valid until the next call.
  absl::StatusOr<const trace::Dictionary*> Of(uint64_t epoch, const trace::DictionaryNeeds& needs);

 private:
  const std::string session_id_;
  StoreReader& store_;
  std::map<uint64_t, trace::Dictionary> tables_;
};

// Events of one block with op, start and duration.
struct DecodedBlock {
  uint32_t lane_id = 0;
  uint64_t epoch = 0;
  const trace::EventColumns* events = nullptr;
  const trace::Dictionary* names = nullptr;
};

// Visits the blocks of a session that overlap a window (null: all), in order of their first event,
// until `visit` fails or `stop` says so.
absl::Status VisitEvents(const std::string& session_id, const TimeRange* window, StoreReader& store,
                         const std::function<bool()>& stop,
                         const std::function<absl::Status(const DecodedBlock&)>& visit);

// Whether an event overlaps the window (null: always): it starts inside it, or runs at its start.
bool Overlaps(int64_t start_ns, int64_t duration_ns, const TimeRange* window);

}  // namespace nanolane::query
