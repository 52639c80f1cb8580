#include "clients/desktop/model/notices.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {
namespace {

struct Missing {
  std::string what;  // "kernel events: ring buffer full"
  uint64_t count = 0;
};

void Collect(const std::vector<trace::Loss>& losses, const char* how, std::vector<Missing>& to) {
  for (const trace::Loss& loss : losses) {
    if (loss.count == 0) continue;
    const std::string kind = loss.kind == trace::EventKind::kUnspecified
                                 ? ""
                                 : absl::StrCat(std::string(trace::ToString(loss.kind)), ", ");
    to.push_back({absl::StrCat(kind, how, ": ", loss.reason), loss.count});
  }
}

void AddMissing(const TimelineModel& model, std::vector<Notice>& notices) {
  std::vector<Missing> missing;
  for (const SessionFacts& session : model.sessions()) {
    Collect(session.losses, "lost", missing);
    Collect(session.left_out, "left out", missing);
  }
  if (missing.empty()) return;
  std::stable_sort(missing.begin(), missing.end(),
                   [](const Missing& a, const Missing& b) { return a.count > b.count; });
  const uint64_t lost = model.lost_events();
  const uint64_t left_out = model.left_out_events();
  Notice notice{.kind = Notice::Kind::kMissing};
  notice.key = absl::StrCat("missing ", model.sessions().front().id);
  std::vector<std::string> counts;
  if (lost > 0) counts.push_back(absl::StrCat(base::GroupedCount(lost), " lost"));
  if (left_out > 0) counts.push_back(absl::StrCat(base::GroupedCount(left_out), " left out"));
  notice.text = absl::StrCat("Not everything is here: ", absl::StrJoin(counts, ", "), " · mostly ",
                             missing.front().what);
  for (const Missing& part : missing) {
    notice.details.push_back(absl::StrCat(base::GroupedCount(part.count), "  ", part.what));
    absl::StrAppend(&notice.key, "|", part.what);
  }
  notices.push_back(std::move(notice));
}

void AddEnded(const TimelineModel& model, std::vector<Notice>& notices) {
  if (!model.followed() || model.phase() != TimelineModel::Phase::kComplete) return;
  const SessionFacts& session = model.sessions().front();
  const int64_t length = ClampToInt64(static_cast<Wide>(session.end_ns) - session.start_ns);
  std::string text = absl::StrCat(
      "The recording has ended", session.end_reason.empty() ? "" : ": ", session.end_reason, " · ",
      base::GroupedCount(model.received_events()), " events in ", base::FormatDuration(length));
  notices.push_back({.kind = Notice::Kind::kEnded,
                     .key = absl::StrCat("ended ", session.id),
                     .text = std::move(text),
                     .details = {}});
}

}  // namespace

std::vector<Notice> NoticesOf(const Loaded& loaded) {
  std::vector<Notice> notices;
  const TimelineModel& model = loaded.model;
  if (model.sessions().empty()) return notices;
  const std::string& id = model.sessions().front().id;
  if (model.recording() && !loaded.failure.ok()) {
    notices.push_back({.kind = Notice::Kind::kConnectionLost,
                       .key = absl::StrCat("lost connection ", id),
                       .text = absl::StrCat("Connection lost; what came before stays, and it is "
                                            "tried again by itself · ",
                                            std::string(loaded.failure.message())),
                       .details = {}});
  }
  if (model.phase() == TimelineModel::Phase::kFailed) {
    notices.push_back(
        {.kind = Notice::Kind::kIncomplete,
         .key = absl::StrCat("incomplete ", id),
         .text = absl::StrCat("Incomplete: ", base::GroupedCount(model.received_events()), " of ",
                              base::GroupedCount(model.expected_events()), " events came · ",
                              std::string(model.status().message())),
         .details = {},
         .reopen = true});
  }
  const absl::Status& open_failed = loaded.attempt.open_failed;
  if (!open_failed.ok()) {
    notices.push_back({.kind = Notice::Kind::kOpenFailed,
                       .key = absl::StrCat("not opened ", std::string(open_failed.message())),
                       .text = absl::StrCat("The other session could not be opened · ",
                                            std::string(open_failed.message())),
                       .details = {}});
  }
  AddEnded(model, notices);
  AddMissing(model, notices);
  return notices;
}

void NoticeBoard::Update(const Loaded& loaded) {
  notices_ = NoticesOf(loaded);
  // What goes by itself and comes again is said again.
  for (auto key = dismissed_.begin(); key != dismissed_.end();) {
    const bool there = std::any_of(notices_.begin(), notices_.end(),
                                   [&](const Notice& notice) { return notice.key == *key; });
    key = there ? std::next(key) : dismissed_.erase(key);
  }
  notices_.erase(
      std::remove_if(notices_.begin(), notices_.end(),
                     [&](const Notice& notice) { return dismissed_.contains(notice.key); }),
      notices_.end());
}

void NoticeBoard::Dismiss(const std::string& key) { dismissed_.insert(key); }

}  // namespace nanolane::desktop
