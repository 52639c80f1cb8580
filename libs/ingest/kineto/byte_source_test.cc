#include "libs/ingest/kineto/byte_source.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "libs/ingest/kineto/import_test_support.h"

namespace nanolane::ingest::kineto {
namespace {

struct Content {
  std::string bytes;
  absl::Status status;
  ContentHash hash;
};

Content ReadAll(const std::string& path) {
  absl::StatusOr<std::unique_ptr<FileSource>> source = FileSource::Open(path);
  REQUIRE(source.ok());
  Content content;
  std::string_view chunk;
  while ((*source)->Next(chunk)) content.bytes += chunk;
  content.status = (*source)->status();
  content.hash = (*source)->hash();
  CHECK((*source)->bytes_read() == (*source)->bytes_total());
  return content;
}

std::string RandomText(size_t size) {
  std::mt19937 random(1);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 20);
  return text;
}

TEST_CASE("plain and compressed files of one content have one hash") {
  const TempFolder folder;
  const std::string text = RandomText(3'000'000);
  const Content plain = ReadAll(folder.Write("a.json", text));
  const Content packed = ReadAll(folder.Write("b.bin", Gzip(text)));
  CHECK(plain.bytes == text);
  CHECK(packed.bytes == text);
  CHECK(plain.status.ok());
  CHECK(packed.status.ok());
  CHECK(plain.hash.low == packed.hash.low);
  CHECK(plain.hash.high == packed.hash.high);
}

TEST_CASE("several gzip members in a row are one content") {
  const TempFolder folder;
  const std::string text = RandomText(700'000);
  std::string packed;
  for (size_t at = 0; at < text.size(); at += 70'001) packed += Gzip(text.substr(at, 70'001));
  const Content content = ReadAll(folder.Write("a.gz", packed));
  CHECK(content.status.ok());
  CHECK(content.bytes == text);
}

TEST_CASE("gzip data that ends too early keeps what came before and says where") {
  const TempFolder folder;
  const std::string text = RandomText(500'000);
  const std::string packed = Gzip(text);
  const Content content = ReadAll(folder.Write("a.gz", packed.substr(0, packed.size() / 2)));
  CHECK(content.status.code() == absl::StatusCode::kDataLoss);
  CHECK(std::string(content.status.message()).find("ends too early") != std::string::npos);
  CHECK(content.bytes.size() > 100'000);
  CHECK(text.starts_with(content.bytes));
}

TEST_CASE("damaged gzip data keeps what came before") {
  const TempFolder folder;
  std::string packed = Gzip(RandomText(500'000));
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) packed[i] ^= 0x5A;
  const Content content = ReadAll(folder.Write("a.gz", packed));
  CHECK(content.status.code() == absl::StatusCode::kDataLoss);
  CHECK(content.bytes.size() > 100'000);
}

TEST_CASE("a source that is dropped early does not wait for its file") {
  const TempFolder folder;
  const std::string path = folder.Write("a.json", RandomText(20'000'000));
  absl::StatusOr<std::unique_ptr<FileSource>> source = FileSource::Open(path);
  REQUIRE(source.ok());
  std::string_view chunk;
  REQUIRE((*source)->Next(chunk));
}

TEST_CASE("files that are missing or folders are refused by name") {
  const TempFolder folder;
  const absl::Status missing = FileSource::Open(folder.path() + "/none.json").status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK(std::string(missing.message()).find("none.json") != std::string::npos);
  CHECK(FileSource::Open(folder.path()).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nanolane::ingest::kineto
