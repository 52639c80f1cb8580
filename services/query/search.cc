#include "services/query/search.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"
#include "services/query/scope.h"
#include "services/query/session_events.h"

namespace nanolane::query {
namespace {

int Limit(int asked, int fallback, int largest) {
  return asked <= 0 ? fallback : std::min(asked, largest);
}

// Matches of one session. The pattern is run once per op, never per event.
class SessionSearch {
 public:
  SessionSearch(std::string session_id, const RE2& pattern, const TimeRange* window, int max_hits)
      : session_id_(std::move(session_id)),
        pattern_(pattern),
        window_(window),
        max_hits_(max_hits) {}

  absl::Status Add(const DecodedBlock& block) {
    const trace::EventColumns& events = *block.events;
    for (size_t i = 0; i < events.size(); ++i) {
      v1::OpHits* hits = HitsOf(block, events.op[i]);
      if (hits == nullptr || !Overlaps(events.start_ns[i], events.duration_ns[i], window_))
        continue;
      hits->set_count(hits->count() + 1);
      hits->set_total_ns(hits->total_ns() + events.duration_ns[i]);
      // Blocks come by their first event, so hits of different lanes can be out of order by a
      // block: all of a block's are taken and the first ones kept at the end.
      if (hits->hits_size() < 2 * max_hits_ || events.start_ns[i] < latest_[hits]) {
        AddHit(block.lane_id, events, i, *hits);
      }
    }
    return absl::OkStatus();
  }

  void MoveTo(std::vector<v1::OpHits>& out) {
    for (auto& [key, hits] : by_name_) {
      if (hits.count() == 0) continue;
      KeepFirst(hits);
      out.push_back(std::move(hits));
    }
  }

 private:
  v1::OpHits* HitsOf(const DecodedBlock& block, trace::OpId op) {
    const auto [at, added] = by_op_.try_emplace({block.epoch, op}, nullptr);
    if (!added) return at->second;
    const std::string& name = block.names->OpName(op);
    if (!RE2::PartialMatch(name, pattern_)) return nullptr;
    const trace::EventKind kind = block.names->OpOf(op).kind;
    v1::OpHits& hits = by_name_[{name, kind}];
    hits.set_session_id(session_id_);
    hits.set_name(name);
    hits.set_kind(trace::ToProto(kind));
    at->second = &hits;
    return &hits;
  }

  void AddHit(uint32_t lane_id, const trace::EventColumns& events, size_t i, v1::OpHits& hits) {
    v1::EventRef& ref = *hits.add_hits();
    ref.set_lane_id(lane_id);
    ref.set_start_ns(events.start_ns[i]);
    ref.set_duration_ns(events.duration_ns[i]);
    if (hits.hits_size() >= 4 * max_hits_) KeepFirst(hits);
    latest_[&hits] = std::max(latest_[&hits], events.start_ns[i]);
  }

  void KeepFirst(v1::OpHits& hits) {
    auto& refs = *hits.mutable_hits();
    std::sort(refs.begin(), refs.end(), [](const v1::EventRef& a, const v1::EventRef& b) {
      return std::make_tuple(a.start_ns(), a.lane_id()) <
             std::make_tuple(b.start_ns(), b.lane_id());
    });
    if (refs.size() > max_hits_) refs.DeleteSubrange(max_hits_, refs.size() - max_hits_);
    latest_[&hits] = refs.empty() ? 0 : refs[refs.size() - 1].start_ns();
  }

  const std::string session_id_;
  const RE2& pattern_;
  const TimeRange* window_;
  const int max_hits_;
  std::map<std::pair<std::string, trace::EventKind>, v1::OpHits> by_name_;
  absl::flat_hash_map<std::pair<uint64_t, trace::OpId>, v1::OpHits*> by_op_;  // null: no match
  absl::flat_hash_map<v1::OpHits*, int64_t> latest_;
};

}  // namespace

absl::StatusOr<v1::SearchResponse> Search(const v1::SearchRequest& request, StoreReader& store,
                                          const std::function<bool()>& stop) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(request.pattern(), options);
  if (!pattern.ok()) {
    return absl::InvalidArgumentError(
        base::StrCat("bad pattern \"", request.pattern(), "\": ", pattern.error(),
                     "; write an RE2 regular expression, such as gemm|conv"));
  }
  ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions,
                   SelectSessions(request.scope(), store));
  const TimeRange* window = request.has_window() ? &request.window() : nullptr;
  std::vector<v1::OpHits> found;
  for (const SessionSummary& summary : sessions) {
    const std::string& id = summary.session().session_id();
    SessionSearch search(id, pattern, window, Limit(request.max_hits(), 10, 1'000));
    RETURN_IF_ERROR(VisitEvents(id, window, store, stop,
                                [&](const DecodedBlock& block) { return search.Add(block); }));
    search.MoveTo(found);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const v1::OpHits& a, const v1::OpHits& b) { return a.count() > b.count(); });
  v1::SearchResponse response;
  response.set_total_ops(found.size());
  for (v1::OpHits& hits : found) {
    response.set_total_events(response.total_events() + hits.count());
    if (response.ops_size() < Limit(request.max_ops(), 100, 10'000)) {
      *response.add_ops() = std::move(hits);
    }
  }
  return response;
}

}  // namespace nanolane::query
