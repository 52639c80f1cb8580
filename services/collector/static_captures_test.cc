#include "services/collector/static_captures.h"

#include <fstream>
#include <string>

#include "catch2/catch.hpp"
#include "services/collector/capture_kinds.h"
#include "tests/support/temp_folder.h"

namespace nanolane::collector {
namespace {

std::string ErrorOf(const std::string& json) {
  const auto parsed = ParseStaticCaptures(json);
  if (parsed.ok()) return "";
  CHECK(absl::IsInvalidArgument(parsed.status()));
  return std::string(parsed.status().message());
}

// Of one entry.
std::string WrongEntry(const std::string& entry) {
  const std::string error = ErrorOf("{\"captures\": [" + entry + "]}");
  const std::string prefix = "entry 1 of the captures: ";
  return error.rfind(prefix, 0) == 0 ? error.substr(prefix.size()) : error;
}

}  // namespace

TEST_CASE("a file of captures is read") {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/captures.json";
  std::ofstream(path) << R"({"captures": [
    {"name": "train.py", "user": "ann", "duration": "1500ms", "kinds": ["kernel", "memcpy"],
     "project": "llm", "labels": {"team": "research"}},
    {"name": "serve", "duration": "10m"}]})";
  const auto captures = ReadStaticCaptures(path);
  REQUIRE(captures.ok());
  REQUIRE(captures->size() == 2);
  const StaticCapture& first = (*captures)[0];
  CHECK(first.name == "train.py");
  CHECK(first.user == "ann");
  CHECK(first.request.duration().seconds() == 1);
  CHECK(first.request.duration().nanos() == 500'000'000);
  CHECK(first.request.kinds_size() == 2);
  CHECK(first.request.kinds(1) == v1::CAPTURE_KIND_MEMCPY);
  CHECK(first.request.project() == "llm");
  CHECK(first.request.labels().at("team") == "research");
  CHECK((*captures)[1].request.kinds().empty());
  CHECK((*captures)[1].request.duration().seconds() == 600);
  CHECK(ParseStaticCaptures(R"({"captures": []})")->empty());
}

TEST_CASE("a file of captures that is not there") {
  CHECK(absl::IsNotFound(ReadStaticCaptures("/nowhere/captures.json").status()));
}

TEST_CASE("what is wrong in a file of captures is said") {
  const std::string shape = "the file of captures is no JSON object with an array \"captures\"";
  CHECK(ErrorOf("") == shape);
  CHECK(ErrorOf("{") == shape);
  CHECK(ErrorOf("[]") == shape);
  CHECK(ErrorOf("{}") == shape);
  CHECK(ErrorOf(R"({"captures": {}})") == shape);

  CHECK(WrongEntry("3") == "is no object");
  CHECK(WrongEntry(R"({"names": "x"})") ==
        "\"names\" is not known; there are name, user, duration, kinds, project, labels");
  const std::string texts = "name, user, duration and project are strings";
  CHECK(WrongEntry(R"({"name": 3})") == texts);
  CHECK(WrongEntry(R"({"name": "x", "user": null})") == texts);
  CHECK(WrongEntry(R"({"name": "x", "duration": 30})") == texts);
  CHECK(WrongEntry(R"({"duration": "3s"})") == "has no name to match processes by");
  for (const char* duration : {"", "x", "0s", "-3s", "601s", "11m"}) {
    CHECK(WrongEntry(std::string(R"({"name": "x", "duration": ")") + duration + "\"}") ==
          std::string("duration \"") + duration +
              "\" is none such as 30s, or more than 10m, which is the most");
  }
  const auto with = [](const std::string& more) {
    return WrongEntry(R"({"name": "x", "duration": "3s", )" + more + "}");
  };
  CHECK(with(R"("kinds": "kernel")") == "kinds is no array");
  CHECK(with(R"("kinds": {"a": "kernel"})") == "kinds is no array");
  CHECK(with(R"("kinds": [3])") == "kinds are strings");
  CHECK(with(R"("kinds": ["kernels"])") ==
        "no kind \"kernels\"; there are "
        "kernel,memcpy,memset,sync,nvtx,memory,framework-memory,launch");
  CHECK(with(R"("kinds": ["kernel", "kernel"])") == "kind 1 is not known, or twice");
  CHECK(with(R"("labels": [])") == "labels is no object");
  CHECK(with(R"("labels": {"a": 1})") == "labels are strings");
  CHECK(ErrorOf(R"({"captures": [{"name": "x", "duration": "1s"}, 3]})") ==
        "entry 2 of the captures: is no object");
}

TEST_CASE("a capture matches by a part of the executable or of an argument, and by user") {
  StaticCapture capture;
  capture.name = "train";
  ProcessFacts facts;
  facts.user = "ann";
  facts.executable = "/usr/bin/python3";
  facts.command_line = {"python3", "/home/ann/train.py"};
  CHECK(Matches(capture, facts));
  capture.user = "bob";
  CHECK_FALSE(Matches(capture, facts));
  capture.user = "ann";
  CHECK(Matches(capture, facts));
  capture.name = "bin/python";
  CHECK(Matches(capture, facts));
  capture.name = "serve";
  CHECK_FALSE(Matches(capture, facts));
}

TEST_CASE("kinds of the API are bits of the wire, and have names") {
  google::protobuf::RepeatedField<int> kinds;
  CHECK(*KindBits(kinds) == inject::wire::kAllKinds);
  kinds.Add(v1::CAPTURE_KIND_LAUNCH);
  kinds.Add(v1::CAPTURE_KIND_KERNEL);
  CHECK(*KindBits(kinds) == (inject::wire::kKindLaunch | inject::wire::kKindKernel));
  CHECK(KindNames(*KindBits(kinds)) == "kernel,launch");
  CHECK(KindsOf(*KindBits(kinds)) ==
        std::vector<v1::CaptureKind>{v1::CAPTURE_KIND_KERNEL, v1::CAPTURE_KIND_LAUNCH});
  kinds.Add(v1::CAPTURE_KIND_LAUNCH);
  CHECK(absl::IsInvalidArgument(KindBits(kinds).status()));
  for (const int unknown : {0, 99, -1}) {
    google::protobuf::RepeatedField<int> odd;
    odd.Add(unknown);
    CHECK(absl::IsInvalidArgument(KindBits(odd).status()));
  }
  CHECK(KindsOf(inject::wire::kAllKinds).size() == 8);
  for (const v1::CaptureKind kind : KindsOf(inject::wire::kAllKinds)) {
    google::protobuf::RepeatedField<int> one;
    one.Add(kind);
    CHECK(*KindByName(KindNames(*KindBits(one))) == kind);
  }
  CHECK(KindNames(0).empty());
  CHECK(absl::IsInvalidArgument(KindByName("").status()));
}

}  // namespace nanolane::collector
