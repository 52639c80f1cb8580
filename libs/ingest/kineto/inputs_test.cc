// Traces that broke tools of this kind: each is a case, named by what the file holds.
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::Event;

constexpr const char* kEpoch = "1712867402348256";

// A kernel at a time, in µs after kEpoch.
std::string EpochKernel(int i, const std::string& dur = "10") {
  return KernelText({.ts = std::to_string(1'712'867'402'348'256 + 20LL * i), .dur = dur});
}

TEST_CASE("a copy with a bare inf or nan in its args is kept and the oddity is told") {
  for (const char* word : {"inf", "-inf", "nan", "NaN", "Infinity"}) {
    const Imported imported = ImportText(
        TraceOf({SpanText("gpu_memcpy", {.name = "Memcpy HtoD (Pageable -> Device)",
                                         .dur = "0",
                                         .more = DeviceArgs(0, 1, 7) + ", \"bytes\": 64, " +
                                                 "\"memory bandwidth (GB/s)\": " + word}),
                 KernelText({.ts = "2000"})}));
    INFO(word);
    REQUIRE(imported.status.ok());
    CHECK(imported.Count("memcpy") == 1);
    CHECK(imported.Count("kernel") == 1);
    CHECK(imported.Lane("Stream 7").at(0).bytes == 64);
    CHECK(imported.LeftOutCount("inf or nan") == 1);
    CHECK(imported.FindLeftOut("inf or nan")->first_offset.has_value());
  }
}

TEST_CASE("kernels stamped 0 beside epoch times are left out and counted") {
  std::vector<std::string> events;
  for (int i = 0; i < 1'200; ++i) events.push_back(KernelText({.ts = "0", .dur = "0"}));
  for (int i = 0; i < 10; ++i) events.push_back(EpochKernel(i));
  const Imported imported = ImportText(TraceOf(events));
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 10);
  CHECK(imported.LeftOutCount("start time is 0") == 1'200);
  CHECK(imported.Session().session.left_out_size() == 1);
  CHECK(imported.Session().session.left_out(0).count() == 1'200);
  CHECK(imported.Lane("Stream 7").front().start_ns == 1'712'867'402'348'256'000);
}

TEST_CASE("a kernel at 0 of a trace that begins at 0 is kept") {
  const Imported imported =
      ImportText(TraceOf({KernelText({.ts = "0", .dur = "0"}), KernelText({.ts = "5"})}));
  CHECK(imported.Count("kernel") == 2);
  CHECK(imported.sessions.at(0).left_out.empty());
}

TEST_CASE("a name that is not UTF-8 deep in a big file is replaced and its byte told") {
  std::string text = "{\"traceEvents\": [\n";
  for (int i = 0; i < 300'000; ++i) {
    text += "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":";
    text += std::to_string(i) + ",\"dur\":1},\n";
  }
  const size_t bad = text.size() + KernelText({}).find("gemm") + 1;
  std::string kernel = KernelText({.ts = "300000"});
  kernel[kernel.find("gemm") + 1] = '\xFE';
  text += kernel + ",\n" + KernelText({.name = "a\x02z", .ts = "300001"}) + "\n]}";
  const Imported imported = ImportText(text);
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 300'002);
  REQUIRE(imported.LeftOutCount("not UTF-8") == 1);
  CHECK(imported.FindLeftOut("not UTF-8")->first_offset == bad);
  CHECK(imported.FindLeftOut("not UTF-8")->reason.find(std::to_string(bad)) != std::string::npos);
  CHECK(imported.LeftOutCount("control bytes") == 1);
  const std::vector<Event> events = imported.Lane("Stream 7");
  CHECK(imported.Name(events.at(300'000)) == "g\uFFFDmm");
  CHECK(imported.Name(events.at(300'001)) == "a\uFFFDz");
}

TEST_CASE("an event with unescaped quotes is skipped, its byte told, all others kept") {
  const std::string bad = KernelText({.name = "void f<\"x\">()", .ts = "1500"});
  const std::string text =
      TraceOf({KernelText({.name = "first"}), bad, KernelText({.name = "last", .ts = "2000"})});
  const Imported imported = ImportText(text);
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 2);
  REQUIRE(imported.LeftOutCount("could not be read") == 1);
  CHECK(imported.FindLeftOut("could not be read")->first_offset == text.find("x\">"));
  CHECK(imported.Name(imported.Lane("Stream 7").at(1)) == "last");
}

TEST_CASE("an odd number of quotes does not swallow what follows") {
  std::vector<std::string> events;
  for (int i = 0; i < 1'000; ++i) {
    events.push_back(
        KernelText({.name = i % 10 == 3 ? "a\"b" : "k", .ts = std::to_string(1'000 + 20 * i)}));
  }
  const Imported imported = ImportText(TraceOf(events, ", \"baseTimeNanoseconds\": 5"));
  CHECK(imported.Count("kernel") == 900);
  CHECK(imported.LeftOutCount("could not be read") == 100);
  CHECK(imported.Session().session.clock().unix_offset_ns() == 5);
}

TEST_CASE("a broken event with lists of objects in its args does not end the list") {
  const std::string bad =
      R"({"ph": "X", "cat": "kernel", "name": "a"b", "args": {"l": [{"x": 1}, {"name": 2}]}})";
  const Imported imported = ImportText(TraceOf({KernelText({}), bad, KernelText({.ts = "2000"})}));
  CHECK(imported.Count("kernel") == 2);
  CHECK(imported.LeftOutCount("could not be read") == 1);
}

TEST_CASE("a last event that is empty is ignored") {
  const Imported imported = ImportText(TraceOf({KernelText({}), "{}"}));
  REQUIRE(imported.status.ok());
  CHECK(imported.Count("kernel") == 1);
  CHECK(imported.sessions.at(0).left_out.empty());
}

TEST_CASE("thousands of partially overlapping events on one stream and thread are all kept") {
  std::vector<std::string> events;
  for (int i = 0; i < 5'000; ++i) {
    const std::string ts = std::to_string(1'000 + i);
    events.push_back(KernelText({.ts = ts, .dur = "100"}));
    events.push_back(SpanText("user_annotation", {.ts = ts, .dur = "50", .pid = 9, .tid = 9}));
  }
  const Imported imported = ImportText(TraceOf(events));
  CHECK(imported.Lane("Stream 7").size() == 5'000);
  CHECK(imported.Lane("NVTX thread 9").size() == 5'000);
  CHECK(imported.Lane("Stream 7").at(17).duration_ns == 100'000);
}

TEST_CASE("kernels that run past the next one's start keep their durations") {
  const Imported imported = ImportText(TraceOf(
      {KernelText({.ts = "1000", .dur = "500.5"}), KernelText({.ts = "1001", .dur = "2"})}));
  CHECK(imported.Lane("Stream 7").at(0).duration_ns == 500'500);
  CHECK(imported.Lane("Stream 7").at(1).start_ns == 1'001'000);
}

TEST_CASE("durations of centuries and negative ones are counted and left out of the totals") {
  const Imported imported = ImportText(
      TraceOf({EpochKernel(0), EpochKernel(1, "3155760000000000"), EpochKernel(2, "-5"),
               EpochKernel(3, "-1712867402348256"), EpochKernel(4, "9223372036854775"),
               SpanText("user_annotation", {.ts = kEpoch, .dur = "-77", .pid = 3, .tid = 3})}));
  CHECK(imported.Count("kernel") == 1);
  CHECK(imported.LeftOutCount("kernel left out: the duration is longer than a day") == 2);
  CHECK(imported.LeftOutCount("kernel left out: the duration is negative") == 2);
  CHECK(imported.LeftOutCount("nvtx left out: the duration is negative") == 1);
}

TEST_CASE("kernels shorter than a microsecond keep their nanoseconds") {
  const Imported imported = ImportText(
      TraceOf({EpochKernel(0, "0.4"), EpochKernel(1, "0.001"), EpochKernel(2, "0.999")}));
  const std::vector<Event> events = imported.Lane("Stream 7");
  CHECK(events.at(0).duration_ns == 400);
  CHECK(events.at(1).duration_ns == 1);
  CHECK(events.at(2).duration_ns == 999);
}

TEST_CASE("a duration that the exporter rounded to -1 is kept as 0 and told") {
  const Imported imported = ImportText(TraceOf({EpochKernel(0, "-1"), EpochKernel(1)}));
  CHECK(imported.Count("kernel") == 2);
  CHECK(imported.Lane("Stream 7").at(0).duration_ns == 0);
  CHECK(imported.LeftOutCount("kernel kept with duration 0") == 1);
}

TEST_CASE("times with a base time are exact, whether it stands before or after the events") {
  const std::string kernel = KernelText({.ts = "5103989856487.131", .dur = "11.648"});
  const std::string before =
      "{\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [" + kernel + "]}";
  const std::string after = TraceOf({kernel}, ", \"baseTimeNanoseconds\": 1790857026000000000");
  for (const std::string& text : {before, after}) {
    const Imported imported = ImportText(text);
    const Event event = imported.Lane("Stream 7").at(0);
    CHECK(event.start_ns == 5'103'989'856'487'131);
    CHECK(event.duration_ns == 11'648);
    const auto& clock = imported.Session().session.clock();
    CHECK(clock.unix_offset_known());
    CHECK(clock.unix_offset_ns() == 1'790'857'026'000'000'000);
  }
}

TEST_CASE("epoch times of 16 digits and three decimals are exact and are Unix time") {
  const Imported imported =
      ImportText(TraceOf({KernelText({.ts = "1712867402348256.789", .dur = "1"})}));
  CHECK(imported.Lane("Stream 7").at(0).start_ns == 1'712'867'402'348'256'789);
  CHECK(imported.Session().session.clock().unix_offset_known());
  CHECK(imported.Session().session.clock().unix_offset_ns() == 0);
}

TEST_CASE("times that are neither epoch nor based say that their Unix time is not known") {
  const Imported imported = ImportText(TraceOf({KernelText({})}));
  CHECK_FALSE(imported.Session().session.clock().unix_offset_known());
}

TEST_CASE("a trace of GPU events alone, without calls, rank or names, is one session") {
  const Imported imported = ImportText(
      TraceOf({KernelText({.name = "", .correlation = 5}), KernelText({.ts = "2000"}, 3),
               SpanText("gpu_memset", {.name = "Memset (Device)", .more = DeviceArgs(3, 1, 7)})}));
  REQUIRE(imported.sessions.size() == 1);
  CHECK(imported.sessions[0].events == 3);
  CHECK(imported.Session().session.pid() == 0);
  CHECK(imported.Session().session.gpus_size() == 2);
  for (const Event& event : imported.Lane("Stream 7")) {
    CHECK(event.launch_start_ns == trace::kNoTime);
    CHECK(event.stack == 0);
  }
}

TEST_CASE("ranges that cross instead of nesting are all kept with their own ends") {
  const Imported imported = ImportText(
      TraceOf({SpanText("user_annotation", {.name = "a", .ts = "0", .dur = "10", .pid = 1}),
               SpanText("user_annotation", {.name = "b", .ts = "5", .dur = "10", .pid = 1})}));
  const std::vector<Event> events = imported.Lane("NVTX thread 7");
  REQUIRE(events.size() == 2);
  CHECK(events[0].duration_ns == 10'000);
  CHECK(events[1].duration_ns == 10'000);
}

TEST_CASE("kernels from before the capture have no launch, launches without a kernel are told") {
  const Imported imported = ImportText(
      TraceOf({KernelText({.ts = "10", .correlation = 1}),
               CallText({.name = "cudaLaunchKernel", .ts = "20", .dur = "5", .correlation = 2}),
               KernelText({.ts = "30", .correlation = 2}),
               CallText({.name = "cudaLaunchKernel", .ts = "40", .dur = "5", .correlation = 3}),
               CallText({.name = "cudaGetDevice", .ts = "50", .dur = "5", .correlation = 4})}));
  const std::vector<Event> events = imported.Lane("Stream 7");
  REQUIRE(events.size() == 2);
  CHECK(events[0].launch_start_ns == trace::kNoTime);
  CHECK(events[1].launch_start_ns == 20'000);
  CHECK(imported.LeftOutCount("launches without a kernel") == 1);
}

TEST_CASE("zero-length events at one time are all kept") {
  std::vector<std::string> events(1'000, KernelText({.dur = "0"}));
  CHECK(ImportText(TraceOf(events)).Lane("Stream 7").size() == 1'000);
}

TEST_CASE("every kernel of a graph replay has the launch that they share") {
  std::vector<std::string> events = {
      CallText({.name = "cudaGraphLaunch", .ts = "100", .dur = "7", .correlation = 55})};
  for (int i = 0; i < 81; ++i) {
    events.push_back(KernelText({.ts = std::to_string(200 + i),
                                 .dur = "1",
                                 .correlation = 55,
                                 .more = ", \"graph node id\": " + std::to_string(i + 1)}));
  }
  const Imported imported = ImportText(TraceOf(events));
  const std::vector<Event> kernels = imported.Lane("Stream 7");
  REQUIRE(kernels.size() == 81);
  for (size_t i = 0; i < kernels.size(); ++i) {
    CHECK(kernels[i].launch_start_ns == 100'000);
    CHECK(kernels[i].launch_duration_ns == 7'000);
    CHECK(kernels[i].graph_node == i + 1);
  }
  CHECK(imported.sessions[0].left_out.empty());
}

TEST_CASE("files that are no traces are refused with what they are") {
  struct Row {
    std::string bytes;
    std::string message;
  };
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  const std::vector<Row> rows = {
      {pointer, "git lfs pull"},
      {Gzip(pointer), "git lfs pull"},
      {std::string("PAR1\x15\x04", 6), "Parquet"},
      {"<?xml version=\"1.0\"?><session/>", "XML"},
      {std::string("SQLite format 3\0\x10", 17), "SQLite"},
      {std::string("PK\x03\x04", 4), "zip"},
      {"\x28\xB5\x2F\xFD....", "zstd"},
      {"", "empty"},
      {" \n", "empty"},
      {std::string("\x0A\x4E\x1F", 3), "not a Chrome trace"},
      {"ph,cat,name", "not a Chrome trace"},
      {"{\"a\": 1, \"b\": []}", "traceEvents"},
      {"{\"a\": tru", "before its list of events"},
      {"{\"a\": }", "malformed at byte 6"},
      {Gzip(Gzip("{}")), "gzip within gzip"},
  };
  for (const Row& row : rows) {
    const Imported imported = ImportText(row.bytes);
    INFO(row.message << ": " << imported.status.message());
    CHECK(imported.status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(imported.status.message()).find(row.message) != std::string::npos);
    CHECK(std::string(imported.status.message()).find("trace.json") != std::string::npos);
  }
}

TEST_CASE("integers above 2^63 in args are taken in") {
  const Imported imported = ImportText(TraceOf(
      {CallText({.name = "cudaMemcpyAsync", .ts = "1", .correlation = 18'446'744'073'709'551'615U}),
       SpanText("gpu_memcpy",
                {.name = "Memcpy DtoD (Device -> Device)",
                 .correlation = 18'446'744'073'709'551'615U,
                 .more = DeviceArgs(0, 1, 7) + ", \"bytes\": 99999999999999999999, \"x\": 1e400"}),
       "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 100, "
       "\"tid\": 100, \"ts\": 3, \"args\": {\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": 8, "
       "\"Addr\": 18446744073709551000, \"Total Allocated\": 8, \"Total Reserved\": 16}}"}));
  REQUIRE(imported.status.ok());
  const Event copy = imported.Lane("Stream 7").at(0);
  CHECK(copy.correlation == 18'446'744'073'709'551'615U);
  CHECK(copy.launch_start_ns == 1'000);
  CHECK(copy.bytes == std::numeric_limits<int64_t>::max());
  CHECK(imported.Lane("GPU memory (framework)").at(0).address == 18'446'744'073'709'551'000U);
}

TEST_CASE("events without a readable time are counted and left out") {
  const Imported imported = ImportText(
      TraceOf({KernelText({.ts = "null"}), KernelText({.ts = "\"x\""}), KernelText({.ts = "1e99"}),
               KernelText({.dur = "nan"}), KernelText({.ts = "\"1000.5\""})}));
  CHECK(imported.Count("kernel") == 1);
  CHECK(imported.LeftOutCount("start time is missing") == 3);
  CHECK(imported.LeftOutCount("duration is not a number") == 1);
  CHECK(imported.Lane("Stream 7").at(0).start_ns == 1'000'500);
}

TEST_CASE("a trace without any event that a timeline shows gives an empty list") {
  for (const std::string& text :
       {TraceOf({}), TraceOf({"{}"}), std::string("[]"),
        TraceOf({SpanText("cpu_op", {.pid = 1}), SpanText("something else", {.pid = 1})})}) {
    const Imported imported = ImportText(text);
    INFO(text);
    REQUIRE(imported.status.ok());
    CHECK(imported.sessions.empty());
  }
}

TEST_CASE("begin and end as two events are counted and left out") {
  std::string begin = KernelText({});
  begin[begin.find("\"X\"") + 1] = 'B';
  const Imported imported = ImportText(TraceOf({begin, KernelText({})}));
  CHECK(imported.Count("kernel") == 1);
  CHECK(imported.LeftOutCount("begin and end") == 1);
}

}  // namespace
}  // namespace nanolane::ingest::kineto
