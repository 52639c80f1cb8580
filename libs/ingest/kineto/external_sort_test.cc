#include "libs/ingest/kineto/external_sort.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

struct Item {
  uint32_t key;
  uint32_t number;  // in order of adding
};

struct ByKey {
  bool operator()(const Item& a, const Item& b) const { return a.key < b.key; }
};

using Sorter = ExternalSorter<Item, ByKey>;

std::vector<std::pair<uint32_t, uint32_t>> ReadAll(const Sorter& sorter) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  Sorter::Reader reader(sorter);
  for (; reader.Peek() != nullptr; reader.Pop()) {
    out.emplace_back(reader.Peek()->key, reader.Peek()->number);
  }
  CHECK(reader.status().ok());
  return out;
}

TEST_CASE("records come back in stable order, in memory and from disk, more than once") {
  std::mt19937 random(5);
  const TempFolder folder;
  for (const size_t count : {0, 1, 1'000, 1'024, 1'025, 20'000}) {
    for (const uint32_t keys : {1U, 10U, 1'000'000U}) {
      Sorter sorter({.memory_bytes = 8'192, .spill_dir = folder.path()});
      std::vector<std::pair<uint32_t, uint32_t>> expected;
      for (uint32_t i = 0; i < count; ++i) {
        expected.emplace_back(static_cast<uint32_t>(random() % keys), i);
        sorter.Add({expected.back().first, i});
      }
      REQUIRE(sorter.End().ok());
      CHECK(sorter.size() == count);
      CHECK(sorter.spilled() == (count > 1'024));
      std::sort(expected.begin(), expected.end());
      CHECK(ReadAll(sorter) == expected);
      CHECK(ReadAll(sorter) == expected);
    }
  }
  CHECK(folder.empty());  // temporary files have no name
}

TEST_CASE("a spill folder that is not there is an error that names it") {
  Sorter sorter({.memory_bytes = 64, .spill_dir = "/nonexistent-folder"});
  for (uint32_t i = 0; i < 5'000; ++i) sorter.Add({i, i});
  const absl::Status status = sorter.End();
  CHECK_FALSE(status.ok());
  CHECK(std::string(status.message()).find("/nonexistent-folder") != std::string::npos);
}

}  // namespace
}  // namespace nanolane::ingest::kineto
