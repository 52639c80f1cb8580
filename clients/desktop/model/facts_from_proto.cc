#include "clients/desktop/model/facts_from_proto.h"

#include "libs/trace/wire.h"

namespace nanolane::desktop {
namespace {

std::vector<trace::Loss> LossesOf(
    const google::protobuf::RepeatedPtrField<trace::v1::Loss>& losses) {
  std::vector<trace::Loss> facts;
  for (const trace::v1::Loss& loss : losses) {
    facts.push_back(
        {.kind = trace::FromProto(loss.kind()), .reason = loss.reason(), .count = loss.count()});
  }
  return facts;
}

}  // namespace

SessionFacts FactsOf(const trace::v1::SessionSummary& summary) {
  const trace::v1::Session& session = summary.session();
  SessionFacts facts{.id = session.session_id(),
                     .project = session.project(),
                     .host = session.host(),
                     .executable = session.executable(),
                     .command_line = {session.command_line().begin(), session.command_line().end()},
                     .source = session.source(),
                     .pid = session.pid(),
                     .gpus = {},
                     .start_ns = summary.start_ns(),
                     .end_ns = summary.end_ns(),
                     .events = summary.events(),
                     .unix_offset_ns = session.clock().unix_offset_ns(),
                     .unix_offset_known = session.clock().unix_offset_known(),
                     .ended = session.ended(),
                     .losses = LossesOf(session.losses()),
                     .left_out = LossesOf(session.left_out()),
                     .end_reason = {},
                     .stored_bytes = summary.stored_bytes(),
                     .changed_unix_ns = summary.changed_unix_ns()};
  for (const trace::v1::Gpu& gpu : session.gpus()) {
    facts.gpus.push_back({gpu.index(), gpu.uuid(), gpu.name(), gpu.memory_bytes()});
  }
  const auto reason = session.labels().find("capture.end");
  if (reason != session.labels().end()) facts.end_reason = reason->second;
  return facts;
}

LaneFacts FactsOf(const query::v1::LaneInfo& info, uint32_t session) {
  return {.session = session,
          .id = info.lane_id(),
          .lane = trace::FromProto(info.lane()),
          .label = info.label(),
          .events = info.events(),
          .start_ns = info.start_ns(),
          .end_ns = info.end_ns()};
}

StreamOpened FactsOf(const query::v1::TimelineHeader& header) {
  StreamOpened opened{.sessions = {}, .lanes = {}, .expected_events = header.expected_events()};
  for (const auto& summary : header.sessions()) opened.sessions.push_back(FactsOf(summary));
  for (const auto& lane : header.lanes()) {
    uint32_t session = 0;
    while (session < opened.sessions.size() && opened.sessions[session].id != lane.session_id()) {
      ++session;
    }
    if (session < opened.sessions.size()) opened.lanes.push_back(FactsOf(lane, session));
  }
  return opened;
}

}  // namespace nanolane::desktop
