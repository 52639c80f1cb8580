#include "services/collector/capture_journal.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "services/collector/delivery/test_support.h"

namespace nanolane::collector {
namespace {

CaptureJournal::Entry EntryOf(const std::string& session_id, uint64_t start_ticks) {
  CaptureJournal::Entry entry;
  entry.session.set_session_id(session_id);
  entry.session.set_pid(41);
  (*entry.session.mutable_labels())["team"] = "line 1\nline 2";
  entry.start_ticks = start_ticks;
  return entry;
}

TEST_CASE("a capture's entry is what was written last, until it is removed") {
  const testing::TempFolder folder;
  CaptureJournal journal(folder.path());
  CHECK(journal.Read().empty());
  REQUIRE(journal.Write(EntryOf("a1", 7)).ok());
  REQUIRE(journal.Write(EntryOf("a1", 8)).ok());
  REQUIRE(journal.Write(EntryOf("b2", 9)).ok());
  journal.Remove("b2");
  journal.Remove("b2");

  auto entries = CaptureJournal(folder.path()).Read();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].start_ticks == 8);
  CHECK(entries[0].has_begun);
  CHECK(entries[0].session.SerializeAsString() == EntryOf("a1", 8).session.SerializeAsString());
}

TEST_CASE("what a process has been asked for is told from what it has begun") {
  const testing::TempFolder folder;
  CaptureJournal journal(folder.path());
  CaptureJournal::Entry entry = EntryOf("a1", 7);
  entry.has_begun = false;
  REQUIRE(journal.Write(entry).ok());
  auto entries = CaptureJournal(folder.path()).Read();
  REQUIRE(entries.size() == 1);
  CHECK_FALSE(entries[0].has_begun);
  CHECK(entries[0].start_ticks == 7);
  entry.has_begun = true;
  REQUIRE(journal.Write(entry).ok());
  entries = CaptureJournal(folder.path()).Read();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].has_begun);
}

TEST_CASE("what is no entry is deleted, and other files are left alone") {
  const testing::TempFolder folder;
  std::ofstream(folder.path() + "/a1.capture") << "no ticks";
  std::ofstream(folder.path() + "/b2.capture") << "12\n";
  std::ofstream(folder.path() + "/c3.spool") << "another's";
  CHECK(CaptureJournal(folder.path()).Read().empty());
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/a1.capture"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/b2.capture"));
  CHECK(std::filesystem::exists(folder.path() + "/c3.spool"));
}

TEST_CASE("a folder that cannot be written to is said") {
  CaptureJournal journal("/nowhere");
  CHECK_FALSE(journal.Write(EntryOf("a1", 7)).ok());
  CHECK(journal.Read().empty());
}

}  // namespace
}  // namespace nanolane::collector
