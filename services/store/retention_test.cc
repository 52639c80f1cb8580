#include "services/store/retention.h"

#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

constexpr int64_t kHour = int64_t{3'600} * 1'000'000'000;

SessionSummary Kept(const std::string& id, const std::string& project, int64_t hours,
                    uint64_t bytes, bool ended = true) {
  SessionSummary summary;
  summary.mutable_session()->set_session_id(id);
  summary.mutable_session()->set_project(project);
  summary.mutable_session()->set_ended(ended);
  summary.set_changed_unix_ns(hours * kHour);
  summary.set_stored_bytes(bytes - bytes / 4);
  summary.set_index_bytes(bytes / 4);
  return summary;
}

using Ids = std::vector<std::string>;

TEST_CASE("sessions older than the greatest age go") {
  RetentionPolicy policy;
  policy.all.max_age_ns = 10 * kHour;
  const std::vector<SessionSummary> sessions = {Kept("new", "p", 95, 1), Kept("old", "p", 80, 1),
                                                Kept("edge", "p", 90, 1)};
  CHECK(SessionsToDelete(sessions, policy, 100 * kHour) == Ids{"old"});
}

TEST_CASE("beyond the greatest size the oldest go, as many as it takes") {
  RetentionPolicy policy;
  policy.all.max_bytes = 100;
  const std::vector<SessionSummary> sessions = {Kept("c", "p", 3, 60), Kept("a", "p", 1, 60),
                                                Kept("b", "p", 2, 40)};
  CHECK(SessionsToDelete(sessions, policy, 4 * kHour) == Ids{"a"});
}

TEST_CASE("a project's own limits are for it alone, and the common ones still hold") {
  RetentionPolicy policy;
  policy.projects["tests"].max_age_ns = kHour;
  policy.all.max_bytes = 100;
  const std::vector<SessionSummary> sessions = {Kept("t", "tests", 1, 50), Kept("a", "prod", 1, 60),
                                                Kept("b", "prod", 2, 60)};
  CHECK(SessionsToDelete(sessions, policy, 10 * kHour) == Ids{"a", "t"});
}

TEST_CASE("a session that is being written to is spared, one that was left alone is not") {
  RetentionPolicy policy;
  policy.all.max_bytes = 1;
  const std::vector<SessionSummary> sessions = {Kept("live", "p", 10, 50, false),
                                                Kept("left", "p", 9, 50, false)};
  CHECK(SessionsToDelete(sessions, policy, 10 * kHour + 1) == Ids{"left"});
}

TEST_CASE("limits are read as people write them") {
  const auto both = ParseRetention("age=7d,bytes=10GB");
  REQUIRE(both.ok());
  CHECK(both->max_age_ns == 7 * 24 * kHour);
  CHECK(both->max_bytes == 10'000'000'000);
  CHECK(ParseRetention("bytes=3TB")->max_age_ns == 0);
  for (const char* bad : {"", "7d", "age=", "age=0d", "age=-1d", "age=7", "bytes=10",
                          "bytes=99999999999TB", "x=1d"}) {
    CAPTURE(bad);
    CHECK(ParseRetention(bad).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("retention deletes from a store and gives the space back") {
  base::FakeClock clock(100 * kHour);
  RocksSubject subject(clock);
  Committer committer(subject.store());
  Writer old(kSession);
  Writer fresh(kOther);
  for (Writer* writer : {&old, &fresh}) {
    const auto block =
        writer->Block(writer->Stream(1), {{.op = writer->Kernel("k"), .start_ns = 1}});
    v1::AppendRequest request = writer->Request({block});
    request.mutable_session()->set_ended(true);
    REQUIRE(writer->Send(subject.store(), request).ok());
    clock.Advance(kHour);
  }
  RetentionPolicy policy;
  policy.all.max_age_ns = kHour + kHour / 2;
  Retention retention(subject.store(), committer, policy, clock);
  // Its thread may have been first.
  REQUIRE(retention.RunOnce().ok());
  CHECK(subject.store().GetSession(kSession).status().code() == absl::StatusCode::kNotFound);
  CHECK(subject.store().GetSession(kOther).ok());
}

}  // namespace
}  // namespace nanolane::store
