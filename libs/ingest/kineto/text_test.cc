#include "libs/ingest/kineto/text.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace nanolane::ingest::kineto {
namespace {

TEST_CASE("escapes of a JSON string are resolved") {
  CHECK(CleanJsonString(R"(a\"b\\c\/d\n\t)") == "a\"b\\c/d\n\t");
  CHECK(CleanJsonString(R"(\u00e9\u4e2d\ud83d\ude00)") == "é中😀");
}

TEST_CASE("lone surrogates and unknown escapes become replacement characters") {
  CHECK(CleanJsonString(R"(\ud83dx)") == "\uFFFDx");
  CHECK(CleanJsonString(R"(\ude00)") == "\uFFFD");
  CHECK(CleanJsonString(R"(\ud83d\u0041)") ==
        "\uFFFD"
        "A");
  CHECK(CleanJsonString(R"(\q)") == "\uFFFDq");
  CHECK(CleanJsonString(R"(\u12)") ==
        "\uFFFD"
        "12");
  CHECK(CleanJsonString("\\") == "\uFFFD");
}

TEST_CASE("bytes that are not UTF-8 and raw control bytes are replaced one by one") {
  CHECK(CleanJsonString("a\xFF\xFE"
                        "b") ==
        "a\uFFFD\uFFFD"
        "b");
  CHECK(CleanJsonString("\xC0\xAF") == "\uFFFD\uFFFD");            // overlong
  CHECK(CleanJsonString("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
  CHECK(CleanJsonString("\xE4\xB8") == "\uFFFD\uFFFD");            // cut off
  CHECK(CleanJsonString("a\x01\nb") ==
        "a\uFFFD\uFFFD"
        "b");
}

TEST_CASE("whatever the bytes, cleaned text is valid UTF-8 and clean text is left alone") {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (size_t n = random() % 12; n > 0; --n) {
      // Mostly bytes that take part in multi-byte characters.
      bytes.push_back(
          static_cast<char>(random() % 4 == 0 ? random() % 256 : 0x80 + random() % 128));
    }
    const std::string clean = CleanJsonString(bytes);
    CHECK(ValidUtf8Prefix(clean) == clean.size());
    if (clean.find('\\') == std::string::npos) CHECK(CleanJsonString(clean) == clean);
  }
}

TEST_CASE("text is cut between characters") {
  CHECK(CutText("abc", 5) == "abc");
  CHECK(CutText("a中b", 3) == "a");
  CHECK(CutText("a中b", 4) == "a中");
}

}  // namespace
}  // namespace nanolane::ingest::kineto
