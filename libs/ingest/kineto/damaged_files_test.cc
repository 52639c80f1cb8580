// Traces that are cut off, damaged or shaped otherwise: what is whole is kept, the rest is told.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

// A kernel at a time.
std::string EpochKernel(int i, const std::string& dur = "10") {
  return KernelText({.ts = std::to_string(1'712'867'402'348'256 + 20LL * i), .dur = dur});
}

TEST_CASE("a trace that is cut off keeps what came before and says where") {
  std::vector<std::string> events;
  for (int i = 0; i < 100; ++i) events.push_back(EpochKernel(i));
  const std::string text = TraceOf(events);
  const std::string cut = text.substr(0, text.find("args", text.size() - 200));
  const Imported imported = ImportText(cut);
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 99);
  REQUIRE(imported.LeftOutCount("ends too early") == 1);
  CHECK(imported.FindLeftOut("ends too early")->first_offset == cut.size());
}

TEST_CASE("wherever a trace is cut off, nothing breaks and nothing whole is lost") {
  std::vector<std::string> events;
  for (int i = 0; i < 4; ++i) events.push_back(EpochKernel(i));
  const std::string text = TraceOf(events);
  for (size_t size = text.find('[') + 1; size < text.size() - 1; ++size) {
    const Imported imported = ImportText(text.substr(0, size));
    uint64_t whole = 0;
    for (size_t at = 0; (at = text.find("}}", at)) != std::string::npos && at + 2 <= size; ++at) {
      ++whole;
    }
    INFO(text.substr(0, size));
    if (whole == 0) {
      CHECK(imported.status.code() == absl::StatusCode::kInvalidArgument);
      continue;
    }
    REQUIRE(imported.status.ok());
    CHECK(imported.Count("kernel") == whole);
    CHECK(imported.LeftOutCount("ends too early") == 1);
  }
}

TEST_CASE("gzip data that is cut off keeps what came before") {
  std::vector<std::string> events;
  for (int i = 0; i < 20'000; ++i) events.push_back(EpochKernel(i, std::to_string(i * 7 % 1'000)));
  const std::string packed = Gzip(TraceOf(events));
  const Imported imported = ImportText(packed.substr(0, packed.size() / 2));
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") > 5'000);
  CHECK(imported.Count("kernel") < 15'000);
  CHECK(imported.LeftOutCount("gzip data ends too early") == 1);
}

TEST_CASE("a bare array of events, its bracket closed or not, is a trace") {
  for (const char* end : {"]", ",]", "", ","}) {
    const Imported imported =
        ImportText("[" + KernelText({}) + ",\n" + KernelText({.ts = "2000"}) + end);
    INFO(end);
    REQUIRE(imported.status.ok());
    CHECK(imported.Count("kernel") == 2);
  }
}

TEST_CASE("a byte order mark is passed over and what follows the trace is told") {
  const Imported imported = ImportText("\xEF\xBB\xBF" + TraceOf({KernelText({})}) + "{\"a\": 1}");
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 1);
  CHECK(imported.LeftOutCount("what follows the end") == 1);
}

TEST_CASE("a value larger than any event costs that event alone") {
  const std::string huge = KernelText({.name = std::string(40 << 20, 'x')});
  const Imported imported = ImportText(TraceOf({KernelText({}), huge, KernelText({.ts = "2000"})}));
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 2);
  CHECK(imported.LeftOutCount("larger than") == 1);
}

TEST_CASE("a few megabytes of nesting cost that event alone") {
  const std::string deep = KernelText({.more = ", \"x\": " + std::string(3 << 20, '[')});
  const Imported imported = ImportText(TraceOf({KernelText({}), deep, KernelText({.ts = "2000"})}));
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 2);
  CHECK(imported.LeftOutCount("nested deeper") == 1);
}

TEST_CASE("one byte changed at random costs two events at most") {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i) events.push_back(KernelText({.ts = std::to_string(1'000 + 10 * i)}));
  const std::string text = TraceOf(events, ", \"deviceProperties\": [{\"id\": 0}]");
  constexpr std::string_view kBytes = "{}[],:\"\\-0e9ainf \n\x01\xFF";
  std::mt19937 random(31);
  const size_t first = text.find('[') + 1;
  for (int round = 0; round < 2'000; ++round) {
    std::string changed = text;
    // Not in the last event, behind which the list ends.
    const size_t at = first + random() % (text.rfind("{\"ph\"") - first);
    changed[at] = kBytes[random() % kBytes.size()];
    const Imported imported = ImportText(changed);
    INFO(changed.substr(at > 60 ? at - 60 : 0, 120));
    REQUIRE(imported.status.ok());
    REQUIRE(imported.Count("kernel") >= 38);
    CHECK(imported.Count("kernel") <= 40);
  }
}

TEST_CASE("bytes changed at random anywhere never break the import") {
  std::vector<std::string> events;
  for (int i = 0; i < 12; ++i) {
    events.push_back(CallText({.name = "cudaLaunchKernel",
                               .ts = std::to_string(1'000 + 10 * i),
                               .correlation = static_cast<uint64_t>(i + 1)}));
    events.push_back(KernelText(
        {.ts = std::to_string(1'005 + 10 * i), .correlation = static_cast<uint64_t>(i + 1)}));
  }
  const std::string text = TraceOf(events, ", \"deviceProperties\": [{\"id\": 0}]");
  std::mt19937 random(32);
  for (int round = 0; round < 1'000; ++round) {
    std::string changed = text;
    for (size_t n = 1 + random() % 8; n > 0; --n) {
      changed[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const Imported imported = ImportText(changed);
    for (size_t i = 0; i < imported.sessions.size(); ++i) CHECK(imported.Count("kernel", i) <= 12);
  }
}

}  // namespace
}  // namespace nanolane::ingest::kineto
