#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "services/collector/delivery/spool_chain.h"
#include "services/collector/delivery/test_support.h"

namespace nanolane::collector {
namespace {

namespace fs = std::filesystem;

using nanolane::store::v1::AppendRequest;

// Requests first…last with blocks of `bytes`.
std::vector<AppendRequest> Numbered(uint64_t first, uint64_t last, size_t bytes = 10) {
  std::vector<AppendRequest> requests;
  for (uint64_t i = first; i <= last; ++i) {
    requests.push_back(RequestOf(std::to_string(i) + std::string(bytes, 'x')));
    requests.back().set_sequence(i);
  }
  return requests;
}

absl::StatusOr<size_t> AppendTo(SpoolChain& chain, const std::vector<AppendRequest>& requests,
                                uint64_t sent = 0) {
  SpoolChain::Requests pointers;
  for (const AppendRequest& request : requests) pointers.push_back(&request);
  nanolane::trace::v1::Session session = SessionNamed(kSessionId);
  return chain.Append(pointers, sent, session);
}

std::vector<fs::path> FilesIn(const std::string& folder, const std::string& suffix) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == suffix) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<Spool> OpenSpool(const SpoolOptions& options) {
  auto spool = Spool::Open(options);
  REQUIRE(spool.ok());
  return *std::move(spool);
}

TEST_CASE("a spool gives back what was written, in files that go as they are delivered") {
  const testing::TempFolder folder;
  const SpoolOptions options = SpoolIn(folder.path());
  const std::vector<AppendRequest> written = Numbered(5, 60, 1'000);
  {
    const auto spool = OpenSpool(options);
    CHECK(fs::status(options.folder).permissions() == fs::perms::owner_all);
    SpoolChain chain(*spool, kSessionId, 3);
    REQUIRE(AppendTo(chain, written).value_or(0) == written.size());
    CHECK(spool->used_bytes() == chain.bytes());
  }
  const auto spool = OpenSpool(options);
  auto chains = spool->TakeLeftovers();
  REQUIRE(chains.size() == 1);
  SpoolChain& chain = *chains[0];
  CHECK(chain.epoch() == 3);
  CHECK(chain.first_sequence() == 5);
  CHECK(chain.last_sequence() == 60);
  CHECK(FilesIn(options.folder, ".spool").size() > 4);
  CHECK(spool->HasOlder(kSessionId, 4));
  CHECK_FALSE(spool->HasOlder(kSessionId, 3));
  for (const AppendRequest& request : written) {
    const auto read = chain.Read(request.sequence());
    REQUIRE(read.ok());
    CHECK(read->SerializeAsString() == request.SerializeAsString());
  }
  CHECK(chain.Read(7)->sequence() == 7);
  CHECK_FALSE(chain.Read(61).ok());
  chain.ReleaseThrough(30);
  CHECK(chain.first_sequence() <= 31);
  CHECK(chain.first_sequence() > 20);
  CHECK(chain.Read(31).ok());
  chain.ReleaseThrough(60);
  CHECK(chain.empty());
  CHECK(spool->used_bytes() == 0);
  CHECK(FilesIn(options.folder, ".spool").empty());
  CHECK_FALSE(spool->HeldOf(kSessionId, 3).has_value());
}

TEST_CASE("a file that is cut at any byte, or changed there, ends at the last whole entry before") {
  const testing::TempFolder folder;
  const SpoolOptions options = SpoolIn(folder.path());
  std::vector<uint64_t> ends;  // of each entry
  {
    const auto spool = OpenSpool(options);
    SpoolChain chain(*spool, kSessionId, 1);
    for (uint64_t i = 1; i <= 4; ++i) {
      REQUIRE(AppendTo(chain, Numbered(i, i)).ok());
      ends.push_back(chain.bytes());
    }
  }
  const fs::path path = FilesIn(options.folder, ".spool").at(0);
  const std::string whole = BytesOf(path);
  REQUIRE(whole.size() == ends.back());
  for (const bool cut : {true, false}) {
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      if (cut) {
        damaged.resize(at);
      } else {
        damaged[at] = static_cast<char>(~damaged[at]);
      }
      std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
      uint64_t expected = 0;
      while (expected < ends.size() && ends[expected] <= at) ++expected;
      const bool newer = !cut && at >= 4 && at < 8;  // its version says so
      const auto spool = OpenSpool(options);
      auto chains = spool->TakeLeftovers();
      INFO("byte " << at << (cut ? " cut" : " changed"));
      if (expected == 0) {
        CHECK(chains.empty());
        CHECK(fs::exists(path) == newer);
        continue;
      }
      REQUIRE(chains.size() == 1);
      CHECK(chains[0]->last_sequence() == expected);
      for (uint64_t i = 1; i <= expected; ++i) {
        CHECK(chains[0]->Read(i)->SerializeAsString() == Numbered(i, i)[0].SerializeAsString());
      }
    }
  }
}

TEST_CASE("what follows a gap between files is set aside") {
  const testing::TempFolder folder;
  const SpoolOptions options = SpoolIn(folder.path());
  {
    const auto spool = OpenSpool(options);
    SpoolChain chain(*spool, kSessionId, 1);
    REQUIRE(AppendTo(chain, Numbered(1, 40, 1'000)).ok());
  }
  const std::vector<fs::path> files = FilesIn(options.folder, ".spool");
  REQUIRE(files.size() > 3);
  fs::resize_file(files[1], fs::file_size(files[1]) - 1);
  const auto spool = OpenSpool(options);
  auto chains = spool->TakeLeftovers();
  REQUIRE(chains.size() == 1);
  CHECK(FilesIn(options.folder, ".spool").size() == 2);
  CHECK(FilesIn(options.folder, ".refused").size() == files.size() - 2);
}

TEST_CASE("a full spool takes what fits, and gives up refused files first") {
  const testing::TempFolder folder;
  SpoolOptions options = SpoolIn(folder.path());
  options.bytes = 20'000;
  const auto spool = OpenSpool(options);
  SpoolChain refused(*spool, kSessionId, 1);
  REQUIRE(AppendTo(refused, Numbered(1, 9, 1'000)).value_or(0) == 9);
  SpoolChain chain(*spool, kSessionId, 2);
  const size_t taken = AppendTo(chain, Numbered(1, 30, 1'000)).value_or(0);
  CHECK(taken > 5);
  CHECK(taken < 15);
  CHECK(spool->used_bytes() <= options.bytes);
  const auto more = AppendTo(chain, Numbered(taken + 1, 30, 1'000));
  CHECK(absl::IsResourceExhausted(more.status()));
  CHECK(chain.last_sequence() == taken);

  refused.Refuse();
  CHECK(spool->refused() == 1);
  CHECK(spool->HeldOf(kSessionId, 1)->last_sequence == 9);
  CHECK(AppendTo(chain, Numbered(taken + 1, 30, 1'000)).value_or(0) > 0);
  CHECK(spool->used_bytes() <= options.bytes);
  chain.ReleaseThrough(30);
  CHECK(chain.empty());
}

TEST_CASE("a spool knows whether the store may have more than it holds") {
  const testing::TempFolder folder;
  const SpoolOptions options = SpoolIn(folder.path());
  const auto spool = OpenSpool(options);
  SpoolChain chain(*spool, kSessionId, 1);
  REQUIRE(AppendTo(chain, Numbered(1, 2), 4).ok());
  CHECK(spool->HeldOf(kSessionId, 1)->open_end);
  REQUIRE(AppendTo(chain, Numbered(3, 4), 4).ok());
  CHECK_FALSE(spool->HeldOf(kSessionId, 1)->open_end);
  REQUIRE(chain.MarkOpenEnd().ok());
  CHECK(spool->HeldOf(kSessionId, 1)->open_end);
  REQUIRE(AppendTo(chain, Numbered(5, 6), 5).ok());
  CHECK_FALSE(spool->HeldOf(kSessionId, 1)->open_end);
  for (uint64_t i = 1; i <= 6; ++i) CHECK(chain.Read(i)->sequence() == i);
}

TEST_CASE("two collectors do not share a spool folder") {
  const testing::TempFolder folder;
  const auto spool = OpenSpool(SpoolIn(folder.path()));
  CHECK(absl::IsFailedPrecondition(Spool::Open(SpoolIn(folder.path())).status()));
}

}  // namespace
}  // namespace nanolane::collector
