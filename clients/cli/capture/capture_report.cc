#include "clients/cli/capture/capture_report.h"

#include <algorithm>

#include "clients/cli/capture/capture_request.h"
#include "clients/cli/capture/proto_time.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/str_cat.h"
#include "libs/base/time_text.h"
#include "libs/trace/wire.h"

namespace nanolane::cli {
namespace {

namespace collector_v1 = nanolane::collector::v1;
using collector_v1::CaptureStatus;
using Json = nlohmann::ordered_json;

constexpr int64_t kMillisecondNs = 1'000'000;

std::string KindText(nanolane::trace::v1::EventKind kind) {
  return std::string(trace::ToString(trace::FromProto(kind)));
}

std::string StateName(collector_v1::CaptureState state) {
  switch (state) {
    case collector_v1::CAPTURE_STATE_STARTING: return "starting";
    case collector_v1::CAPTURE_STATE_RECORDING: return "recording";
    case collector_v1::CAPTURE_STATE_DRAINING: return "draining";
    case collector_v1::CAPTURE_STATE_DONE: return "done";
    case collector_v1::CAPTURE_STATE_FAILED: return "failed";
    default: return "unknown";
  }
}

// Nobody reads the microseconds of a clock that runs.
std::string RoughDuration(int64_t ns) {
  return base::FormatDuration(ns < kMillisecondNs ? ns : ns / kMillisecondNs * kMillisecondNs);
}

std::string Events(uint64_t count) {
  return base::StrCat(base::GroupedCount(count), count == 1 ? " event" : " events");
}

std::string Lost(const CaptureStatus& status) {
  const uint64_t lost = LostEvents(status);
  return lost == 0 ? "no losses" : base::StrCat(Events(lost), " LOST");
}

// Those of the start and those that came later, each once.
std::vector<std::string> AllNotes(const CaptureReport& report) {
  std::vector<std::string> notes = report.notes;
  for (const std::string& note : report.status.notes()) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

std::string HowToOpen(const CaptureReport& report) {
  return base::StrCat("nanolane-desktop --server ", report.server, " --session ",
                      report.status.session_id());
}

std::string KindTable(const CaptureStatus& status) {
  Table table({{"kind"}, {"events", Align::kRight}});
  for (const auto& kind : status.by_kind()) {
    table.AddRow({KindText(kind.kind()), base::GroupedCount(kind.count())});
  }
  return table.empty() ? "" : "\n" + table.Render();
}

std::string LossTable(const CaptureStatus& status) {
  Table table({{"lost"}, {"events", Align::kRight}, {"why"}});
  for (const auto& loss : status.losses()) {
    if (loss.count() == 0) continue;
    const bool any = loss.kind() == nanolane::trace::v1::EVENT_KIND_UNSPECIFIED;
    table.AddRow({any ? "any kind" : KindText(loss.kind()), base::GroupedCount(loss.count()),
                  loss.reason()});
  }
  return table.empty() ? "" : "\n" + table.Render();
}

}  // namespace

uint64_t CapturedEvents(const CaptureStatus& status) {
  uint64_t events = 0;
  for (const auto& kind : status.by_kind()) events += kind.count();
  return events;
}

uint64_t LostEvents(const CaptureStatus& status) {
  uint64_t lost = 0;
  for (const auto& loss : status.losses()) lost += loss.count();
  return lost;
}

std::string LossAlarm(const CaptureStatus& status) {
  const uint64_t lost = LostEvents(status);
  return lost == 0 ? "" : base::StrCat("LOST ", Events(lost));
}

std::string ProgressText(const CaptureStatus& now, const CaptureStatus& before) {
  std::string text = base::StrCat(
      StateName(now.state()), ", ", RoughDuration(ToNanos(now.elapsed())), " of ",
      base::FormatDuration(ToNanos(now.duration())), ", ", Events(CapturedEvents(now)));
  std::string kinds;
  for (const auto& kind : now.by_kind()) {
    if (kind.count() == 0) continue;
    kinds += base::StrCat(kinds.empty() ? "" : ", ", KindText(kind.kind()), " ",
                          base::GroupedCount(kind.count()));
  }
  if (!kinds.empty()) text += base::StrCat(" (", kinds, ")");
  const int64_t passed_ns = ToNanos(now.elapsed()) - ToNanos(before.elapsed());
  const uint64_t events =
      CapturedEvents(now) - std::min(CapturedEvents(now), CapturedEvents(before));
  if (passed_ns > 0) {
    const double rate = static_cast<double>(events) * kSecondNs / static_cast<double>(passed_ns);
    text += base::StrCat(", ", base::GroupedCount(static_cast<uint64_t>(rate)), " events/s");
  }
  if (now.spooled_bytes() > 0) {
    text += base::StrCat(", ", FormatBytes(now.spooled_bytes()), " wait on disk for the store");
  }
  return text;
}

std::string ToText(const CaptureReport& report) {
  const CaptureStatus& status = report.status;
  std::string text = base::StrCat("session ", status.session_id(), ", ",
                                  base::FormatDuration(ToNanos(status.elapsed())), " of ",
                                  report.process, " (pid ", status.pid(), "), ",
                                  Events(CapturedEvents(status)), ", ", Lost(status), "\n");
  if (!status.message().empty()) text += base::StrCat("ended: ", status.message(), "\n");
  text += KindTable(status) + LossTable(status);
  const std::vector<std::string> notes = AllNotes(report);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += base::StrCat("note: ", note, "\n");
  return text + base::StrCat("\nopen it with: ", HowToOpen(report), "\n");
}

Json ToJson(const CaptureReport& report) {
  const CaptureStatus& status = report.status;
  Json by_kind = Json::object();
  for (const auto& kind : status.by_kind()) by_kind[KindText(kind.kind())] = kind.count();
  Json losses = Json::array();
  for (const auto& loss : status.losses()) {
    losses.push_back(
        {{"kind", KindText(loss.kind())}, {"reason", loss.reason()}, {"count", loss.count()}});
  }
  Json kinds = Json::array();
  for (const auto kind : report.kinds) kinds.push_back(CaptureKindName(kind));
  return {{"session_id", status.session_id()},
          {"pid", status.pid()},
          {"process", status.executable()},
          {"state", StateName(status.state())},
          {"message", status.message()},
          {"start_unix_ns", ToNanos(status.start_time())},
          {"duration_ns", ToNanos(status.duration())},
          {"elapsed_ns", ToNanos(status.elapsed())},
          {"kinds", std::move(kinds)},
          {"events", CapturedEvents(status)},
          {"by_kind", std::move(by_kind)},
          {"safe_events", status.safe_events()},
          {"lost", LostEvents(status)},
          {"losses", std::move(losses)},
          {"spooled_bytes", status.spooled_bytes()},
          {"notes", AllNotes(report)},
          {"open", HowToOpen(report)}};
}

}  // namespace nanolane::cli
