#include "services/collector/inject/name_facts.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

uint32_t IdOf(OpenCapture& capture, const std::string& text) {
  return NameFact(capture.ring(), *CurrentThread(), text.data(), text.size(), kSlotKernel);
}

}  // namespace

TEST_CASE("each name is written once, whichever thread asks") {
  OpenCapture capture;
  constexpr int kThreads = 4;
  constexpr int kNames = 500;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3 * kNames; ++i) {
        ids[t].push_back(IdOf(capture, "kernel_" + std::to_string(i % kNames)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Contents& contents = capture.Read();
  REQUIRE(contents.names.size() == kNames);
  REQUIRE(contents.facts == kNames);
  for (const std::vector<uint32_t>& own : ids) {
    for (size_t i = 0; i < own.size(); ++i) {
      REQUIRE(contents.names.at(own[i]) == "kernel_" + std::to_string(i % kNames));
    }
  }
}

TEST_CASE("an empty name has an id, and a long one is cut") {
  OpenCapture capture;
  const std::string longest(wire::kMaxNameBytes, 'x');
  const uint32_t empty = IdOf(capture, "");
  const uint32_t cut = IdOf(capture, longest + "tail");
  CHECK(empty != 0);
  CHECK(IdOf(capture, longest) == cut);
  const Contents& contents = capture.Read();
  CHECK(contents.names.at(empty).empty());
  CHECK(contents.names.at(cut) == longest);
  CHECK_FALSE(capture.reader().corrupt_facts());
}

TEST_CASE("where facts are full a name is lost, and those that are known stay known") {
  OpenCapture capture({.facts_bytes = 4096});
  std::vector<uint32_t> ids;
  for (int i = 0;; ++i) {
    const uint32_t id = IdOf(capture, "name " + std::to_string(i));
    if (id == 0) break;
    ids.push_back(id);
  }
  CHECK(ids.size() > 50);
  CHECK(capture.Lost(wire::LossReason::kFactsFull, kSlotKernel) == 1);
  CHECK(IdOf(capture, "another") == 0);
  CHECK(capture.Lost(wire::LossReason::kFactsFull, kSlotKernel) == 2);
  for (size_t i = 0; i < ids.size(); ++i) {
    CHECK(IdOf(capture, "name " + std::to_string(i)) == ids[i]);
  }
  CHECK(capture.Read().names.size() == ids.size());
}

TEST_CASE("where the table is full a name is lost") {
  OpenCapture capture({.facts_bytes = 16 << 20});
  constexpr uint32_t kMost = (1U << 18) / 4 * 3;
  for (uint32_t i = 0; i < kMost; ++i) {
    if (IdOf(capture, std::to_string(i)) == 0) FAIL("no room for name " << i);
  }
  CHECK(IdOf(capture, "one more") == 0);
  CHECK(capture.Lost(wire::LossReason::kFactsFull, kSlotKernel) == 1);
  CHECK(IdOf(capture, "77") != 0);
  CHECK(capture.Read().names.size() == kMost);
}

TEST_CASE("a capture knows nothing of the names of the one before") {
  uint32_t before = 0;
  {
    OpenCapture capture;
    IdOf(capture, "other");
    before = IdOf(capture, "shared");
  }
  OpenCapture capture;
  const uint32_t after = IdOf(capture, "shared");
  CHECK(before == 2);
  CHECK(after == 1);
  CHECK(capture.Read().names.at(after) == "shared");
}

TEST_CASE("hashes of texts that differ in one byte or in length differ") {
  std::set<uint64_t> hashes;
  const std::string text = "void gemm_kernel<float, 128>(float*)";
  for (size_t length = 0; length <= text.size(); ++length) {
    hashes.insert(HashBytes(text.data(), length));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = '\x80';
    hashes.insert(HashBytes(other.data(), other.size()));
  }
  CHECK(hashes.size() == 2 * text.size() + 1);
  CHECK(hashes.count(0) == 0);
}

}  // namespace nanolane::inject
