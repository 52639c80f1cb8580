#include "libs/ingest/kineto/decimal.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace nanolane::ingest::kineto {
namespace {

int64_t Micros(std::string_view text) {
  int64_t ns = 0;
  REQUIRE(ParseMicros(text, ns));
  return ns;
}

TEST_CASE("sixteen digits of microseconds with three decimals become exact nanoseconds") {
  CHECK(Micros("5103989856487.131") == 5'103'989'856'487'131);
  CHECK(Micros("1712867402348256") == 1'712'867'402'348'256'000);
  CHECK(Micros("1712867402348256.789") == 1'712'867'402'348'256'789);
  CHECK(Micros("9223372036854775.807") == std::numeric_limits<int64_t>::max());
}

TEST_CASE("short, negative and signed microseconds are read") {
  CHECK(Micros("0") == 0);
  CHECK(Micros("0.4") == 400);
  CHECK(Micros("1.") == 1000);
  CHECK(Micros(".5") == 500);
  CHECK(Micros("-1") == -1000);
  CHECK(Micros("-0.001") == -1);
  CHECK(Micros("+2.5") == 2500);
}

TEST_CASE("decimals beyond the third are rounded half up") {
  CHECK(Micros("1.0004") == 1000);
  CHECK(Micros("1.0005") == 1001);
  CHECK(Micros("1.00049999999999999999999999999999") == 1000);
  CHECK(Micros("0.9999") == 1000);
  CHECK(Micros("-1.0005") == -1001);
}

TEST_CASE("exponents are resolved without a double") {
  CHECK(Micros("1.5e3") == 1'500'000);
  CHECK(Micros("5.103989856487131E12") == 5'103'989'856'487'131);
  CHECK(Micros("15e-1") == 1500);
  CHECK(Micros("1e-3") == 1);
  CHECK(Micros("1e-4") == 0);
  CHECK(Micros("5e-4") == 1);
  CHECK(Micros("0e999999999999") == 0);
  CHECK(Micros("1e-999999999999") == 0);
}

TEST_CASE("what is no number or does not fit is refused") {
  int64_t ns = 0;
  for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "abc", "1.2.3", "1 ", "0x10", "--1",
                           "9223372036854775.808", "1e300", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(ParseMicros(text, ns));
  }
}

TEST_CASE("integers are clamped into their type") {
  uint64_t u = 0;
  REQUIRE(ParseUnsigned("18446744073709551615", u));
  CHECK(u == std::numeric_limits<uint64_t>::max());
  REQUIRE(ParseUnsigned("99999999999999999999999999", u));
  CHECK(u == std::numeric_limits<uint64_t>::max());
  REQUIRE(ParseUnsigned("9223372036854775809", u));
  CHECK(u == 9'223'372'036'854'775'809U);
  REQUIRE(ParseUnsigned("-5", u));
  CHECK(u == 0);
  REQUIRE(ParseUnsigned("12.9", u));
  CHECK(u == 12);
  int64_t s = 0;
  REQUIRE(ParseSigned("-9223372036854775809", s));
  CHECK(s == -std::numeric_limits<int64_t>::max());
  REQUIRE(ParseSigned("-1", s));
  CHECK(s == -1);
  CHECK_FALSE(ParseSigned("nan", s));
}

TEST_CASE("random nanoseconds survive their decimal text") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto digits = static_cast<int>(random() % 63);
    auto ns = static_cast<int64_t>(random() >> (63 - digits) >> 1);
    if (random() % 2 == 0) ns = -ns;
    const int64_t magnitude = ns < 0 ? -ns : ns;
    const std::string fraction = std::to_string(1000 + magnitude % 1000).substr(1);
    const std::string text =
        (ns < 0 ? "-" : "") + std::to_string(magnitude / 1000) + "." + fraction;
    INFO(text);
    CHECK(Micros(text) == ns);
    // The same number without a point, in nanoseconds.
    CHECK(Micros((ns < 0 ? "-" : "") + std::to_string(magnitude) + "e-3") == ns);
  }
}

}  // namespace
}  // namespace nanolane::ingest::kineto
