// Session sinks that keep everything in memory, for tests of importers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libs/ingest/session_sink.h"

namespace nanolane::ingest {

struct MemorySession {
  nanolane::trace::v1::Session session;  // as finished, or as opened
  bool finished = false;
  trace::DictionaryBuilder dictionary;
  std::map<trace::LaneId, std::vector<trace::Event>> events;

  const trace::Dictionary& tables() const { return dictionary.tables(); }
};

class MemorySinks final : public SinkFactory {
 public:
  absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> FindEnded(
      const std::string& session_id) override {
    const auto it = sessions.find(session_id);
    if (it == sessions.end() || !it->second->finished) return std::nullopt;
    nanolane::trace::v1::SessionSummary summary;
    *summary.mutable_session() = it->second->session;
    std::map<trace::EventKind, uint64_t> counts;
    for (const auto& [lane, events] : it->second->events) {
      for (const trace::Event& event : events) {
        ++counts[it->second->tables().OpOf(event.op).kind];
      }
    }
    for (const auto& [kind, count] : counts) {
      nanolane::trace::v1::KindCount& entry = *summary.add_by_kind();
      entry.set_kind(static_cast<nanolane::trace::v1::EventKind>(kind));
      entry.set_count(count);
      summary.set_events(summary.events() + count);
    }
    return summary;
  }

  absl::StatusOr<std::unique_ptr<SessionSink>> Open(
      const nanolane::trace::v1::Session& session) override {
    ++opened;
    std::unique_ptr<MemorySession>& kept = sessions[session.session_id()];
    kept = std::make_unique<MemorySession>();
    kept->session = session;
    return std::make_unique<Sink>(*kept);
  }

  std::map<std::string, std::unique_ptr<MemorySession>> sessions;  // by id
  int opened = 0;

 private:
  class Sink final : public SessionSink {
   public:
    explicit Sink(MemorySession& session) : session_(session) {}

    trace::DictionaryBuilder& dictionary() override { return session_.dictionary; }
    absl::Status Add(trace::LaneId lane, const trace::Event& event) override {
      session_.events[lane].push_back(event);
      return absl::OkStatus();
    }
    absl::Status Finish(const nanolane::trace::v1::Session& final_session) override {
      session_.session = final_session;
      session_.finished = true;
      return absl::OkStatus();
    }

   private:
    MemorySession& session_;
  };
};

}  // namespace nanolane::ingest
