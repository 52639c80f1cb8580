#include "libs/ingest/kineto/json_scanner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

// A text in chunks of one size.
class TextSource final : public ChunkSource {
 public:
  TextSource(std::string text, size_t chunk) : text_(std::move(text)), chunk_(chunk) {}

  bool Next(std::string_view& chunk) override {
    chunk = std::string_view(text_).substr(at_, chunk_);
    at_ += chunk.size();
    return !chunk.empty();
  }

 private:
  std::string text_;
  size_t chunk_;
  size_t at_ = 0;
};

// Rebuilds the value that comes next, to be compared with another parser's.
bool Read(JsonScanner& scanner, nlohmann::json& value) {
  JsonText text;
  bool first = true;
  bool more = false;
  switch (scanner.PeekKind()) {
    case JsonKind::kString:
      if (!scanner.ReadString(text)) return false;
      value = CleanJsonString(scanner.View(text));
      return true;
    case JsonKind::kNumber:
      if (!scanner.ReadNumber(text)) return false;
      value = nlohmann::json::parse(scanner.View(text));
      return true;
    case JsonKind::kObject:
      scanner.Drop(1);
      value = nlohmann::json::object();
      for (;;) {
        if (!scanner.NextMember(first, more, text)) return false;
        if (!more) return true;
        const std::string key = CleanJsonString(scanner.View(text));
        if (!Read(scanner, value[key])) return false;
      }
    case JsonKind::kArray:
      scanner.Drop(1);
      value = nlohmann::json::array();
      for (;;) {
        if (!scanner.NextElement(first, more)) return false;
        if (!more) return true;
        value.emplace_back();
        if (!Read(scanner, value.back())) return false;
      }
    default:
      if (!scanner.ReadWord(text)) return false;
      value = nlohmann::json::parse(scanner.View(text));
      return true;
  }
}

nlohmann::json RandomValue(std::mt19937& random, int depth) {
  switch (random() % (depth > 4 ? 5 : 7)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return static_cast<int64_t>(random()) - (1LL << 31);
    case 3: return static_cast<double>(random()) / 4096.0;
    case 4: {
      static constexpr const char* kPieces[] = {"a", "\"", "\\", "\n", "é", "中",
                                                "😀", "/",  "{",  "}",  ",", "0123456789abcdef"};
      std::string text;
      for (size_t n = random() % 6; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
      return text;
    }
    case 5: {
      nlohmann::json array = nlohmann::json::array();
      for (size_t n = random() % 5; n > 0; --n) array.push_back(RandomValue(random, depth + 1));
      return array;
    }
    default: {
      nlohmann::json object = nlohmann::json::object();
      for (size_t n = random() % 5; n > 0; --n) {
        object["k" + std::to_string(random() % 9)] = RandomValue(random, depth + 1);
      }
      return object;
    }
  }
}

TEST_CASE("random JSON reads the same as with another parser, however it is cut into chunks") {
  std::mt19937 random(11);
  for (int i = 0; i < 2'000; ++i) {
    const nlohmann::json expected = RandomValue(random, 0);
    const std::string text = expected.dump(static_cast<int>(random() % 4) - 1);
    TextSource source(text, 1 + random() % 40);
    JsonScanner scanner(source);
    nlohmann::json value;
    REQUIRE(Read(scanner, value));
    CHECK(value == expected);
    CHECK(scanner.at_end());
  }
}

TEST_CASE("skipping a value ends where reading it ends") {
  std::mt19937 random(12);
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = RandomValue(random, 0).dump(static_cast<int>(random() % 4) - 1);
    TextSource source(text + " 42", 1 + random() % 40);
    JsonScanner scanner(source);
    REQUIRE(scanner.SkipValue());
    JsonText rest;
    REQUIRE(scanner.ReadNumber(rest));
    CHECK(scanner.View(rest) == "42");
  }
}

TEST_CASE("a byte changed at random never reads past the text and never hangs") {
  std::mt19937 random(13);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = RandomValue(random, 0).dump();
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    TextSource source(text, 1 + random() % 7);
    JsonScanner scanner(source);
    if (!scanner.SkipValue()) {
      CHECK_FALSE(scanner.error().what.empty());
      CHECK(scanner.error().offset <= text.size());
    }
  }
}

TEST_CASE("inf and nan in any spelling are words that are counted with the first one's place") {
  const std::string text = "[1, inf, -inf, nan, NaN, Infinity, -Infinity, -nan(ind), null]";
  TextSource source(text, 3);
  JsonScanner scanner(source);
  REQUIRE(scanner.SkipValue());
  CHECK(scanner.not_finite().count == 7);
  CHECK(scanner.not_finite().first_offset == 4);
}

TEST_CASE("raw control bytes and bytes that are not UTF-8 are taken in with their first places") {
  const std::string text = "[\"ab\x01\", \"c\xFF\", \"fine é\", \"\xC3\", \"\n\"]";
  TextSource source(text, 4);
  JsonScanner scanner(source);
  REQUIRE(scanner.SkipValue());
  CHECK(scanner.control_bytes().count == 2);
  CHECK(scanner.control_bytes().first_offset == 4);
  CHECK(scanner.not_utf8().count == 2);
  CHECK(scanner.not_utf8().first_offset == text.find('\xFF'));
}

TEST_CASE("a fault is told with what was found and at which byte") {
  TextSource source("{\"a\": \"b\" c}", 2);
  JsonScanner scanner(source);
  CHECK_FALSE(scanner.SkipValue());
  CHECK(scanner.error().what == "expected ',', found 'c'");
  CHECK(scanner.error().offset == 10);
  CHECK_FALSE(scanner.error().at_end);
}

TEST_CASE("an end within a value is told as an end") {
  for (const char* text :
       {"{\"a\": \"b", "{\"a\"", "[1, 2", "[tru", "{\"a\": \"b\\", "{\"a\": 1,"}) {
    TextSource source(text, 3);
    JsonScanner scanner(source);
    INFO(text);
    CHECK_FALSE(scanner.SkipValue());
    CHECK(scanner.error().at_end);
    CHECK(scanner.error().offset == std::string_view(text).size());
  }
}

TEST_CASE("nesting beyond the bound is an error, not a crash") {
  TextSource deep(std::string(1'000'000, '['), 4'096);
  JsonScanner scanner(deep);
  CHECK_FALSE(scanner.SkipValue());
  CHECK(scanner.error().what.find("nested deeper") != std::string::npos);
}

TEST_CASE("a value beyond the bound on pinned bytes is an error that takes bounded memory") {
  TextSource source("\"" + std::string(3 * JsonScanner::kMaxPinnedBytes, 'x') + "\"", 1 << 20);
  JsonScanner scanner(source);
  scanner.Pin();
  CHECK_FALSE(scanner.SkipValue());
  CHECK(scanner.error().what.find("larger than") != std::string::npos);
  CHECK_FALSE(scanner.error().at_end);
}

TEST_CASE("the search for the next event skips objects that are no events") {
  const std::string text =
      R"({"name": "x" y", "args": {"l": [{"k": 1}, {"a": 2}]}}, {"ph": "X"}, 7)";
  for (size_t chunk = 1; chunk < 20; ++chunk) {
    TextSource source(text, chunk);
    JsonScanner scanner(source);
    scanner.Pin();
    CHECK_FALSE(scanner.SkipValue());
    REQUIRE(scanner.FindNextEvent());
    CHECK(scanner.offset() == text.find("{\"ph\""));
    CHECK(scanner.error().what.empty());
    REQUIRE(scanner.SkipValue());
    CHECK(scanner.Consume(','));
  }
}

TEST_CASE("pinned texts stay readable while further chunks come in") {
  TextSource source(R"({"name": "kernel", "x": [1, 2, 3, 4, 5, 6, 7, 8, 9]} )", 1);
  JsonScanner scanner(source);
  (void)scanner.Peek();
  scanner.Pin();
  scanner.Drop(1);
  bool first = true;
  bool more = false;
  JsonText key;
  JsonText value;
  REQUIRE(scanner.NextMember(first, more, key));
  REQUIRE(scanner.ReadString(value));
  JsonText other;
  REQUIRE(scanner.NextMember(first, more, other));
  REQUIRE(scanner.SkipValue());
  CHECK(scanner.View(key) == "name");
  CHECK(scanner.View(value) == "kernel");
  CHECK(scanner.View(other) == "x");
}

}  // namespace
}  // namespace nanolane::ingest::kineto
