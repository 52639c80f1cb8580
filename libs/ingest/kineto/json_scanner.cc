#include "libs/ingest/kineto/json_scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "libs/ingest/kineto/text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nanolane::ingest::kineto {
namespace {

// Zero bytes behind the window's end: loops stop there without looking for the end.
constexpr size_t kPadding = 64;

constexpr std::array<bool, 256> kNumberBytes = [] {
  std::array<bool, 256> table = {};
  for (const char c : std::string_view("0123456789.eE+-")) table[static_cast<size_t>(c)] = true;
  return table;
}();

bool IsNumberByte(char c) { return kNumberBytes[static_cast<unsigned char>(c)]; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The first quote, backslash, control byte or byte beyond ASCII from `at` on. There is one: the
// padding is made of control bytes.
const char* FindSpecial(const char* at) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');
  for (;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed: less than a space are the control bytes and everything beyond ASCII.
    const __m128i hits =
        _mm_or_si128(_mm_cmplt_epi8(bytes, space),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#else
  while (static_cast<signed char>(*at) >= ' ' && *at != '"' && *at != '\\') ++at;
  return at;
#endif
}

std::string Shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) return absl::StrCat("'", std::string(1, c), "'");
  return absl::StrCat("byte 0x", absl::Hex(byte, absl::kZeroPad2));
}

}  // namespace

JsonScanner::JsonScanner(ChunkSource& source)
    : source_(source), window_(std::make_unique<char[]>(kPadding)) {
  next_ = end_ = token_ = window_.get();
}

bool JsonScanner::Fail(std::string what) {
  if (error_.what.empty()) {
    error_ = {.what = std::move(what), .offset = offset(), .at_end = at_end()};
  }
  return false;
}

bool JsonScanner::FailUnexpected(char wanted) {
  const char found = Peek();
  if (at_end())
    return Fail(absl::StrCat("the input ends where '", std::string(1, wanted), "' should be"));
  return Fail(absl::StrCat("expected '", std::string(1, wanted), "', found ", Shown(found)));
}

bool JsonScanner::Refill() {
  if (input_ended_) return false;
  const char* keep = Kept();
  const auto kept = static_cast<size_t>(end_ - keep);
  if (kept > kMaxPinnedBytes) {
    if (error_.what.empty()) {
      error_ = {.what = absl::StrCat("a value is larger than ", kMaxPinnedBytes >> 20, " MB"),
                .offset = OffsetOf(keep)};
    }
    return false;
  }
  std::string_view chunk;
  if (!source_.Next(chunk)) {
    input_ended_ = true;
    return false;
  }
  const char* old = window_.get();
  const size_t needed = kept + chunk.size() + kPadding;
  window_offset_ += static_cast<uint64_t>(keep - old);
  std::unique_ptr<char[]> grown;
  char* target = window_.get();
  if (needed > capacity_) {
    capacity_ = needed + needed / 2;
    grown.reset(new char[capacity_]);
    target = grown.get();
  }
  std::memmove(target, keep, kept);
  std::memcpy(target + kept, chunk.data(), chunk.size());
  std::memset(target + kept + chunk.size(), 0, kPadding);
  next_ = target + (next_ - keep);
  if (pin_ != nullptr) pin_ = target;
  // Behind a pin the token may be an old one in front of it; then it is of no use any more.
  token_ = token_ >= keep ? target + (token_ - keep) : target;
  end_ = target + kept + chunk.size();
  if (grown != nullptr) window_ = std::move(grown);
  return true;
}

bool JsonScanner::Ensure(size_t count) {
  while (static_cast<size_t>(end_ - next_) < count) {
    if (!Refill()) return false;
  }
  return true;
}

std::string_view JsonScanner::Ahead(size_t count) {
  (void)Ensure(count);
  return {next_, std::min(count, static_cast<size_t>(end_ - next_))};
}

void JsonScanner::Drain() {
  pin_ = nullptr;
  do {
    next_ = token_ = end_;
  } while (Refill());
}

JsonKind JsonScanner::PeekKind() {
  const char c = Peek();
  if (c == '"') return JsonKind::kString;
  if (c == '{') return JsonKind::kObject;
  if (c == '[') return JsonKind::kArray;
  if (IsDigit(c)) return JsonKind::kNumber;
  (void)Ensure(2);
  if (c == '-' || c == '+') {
    return absl::ascii_isalpha(static_cast<unsigned char>(next_[1])) ? JsonKind::kNotFinite
                                                                     : JsonKind::kNumber;
  }
  if (c == 't' || c == 'f') return JsonKind::kWord;
  if (c == 'n') return next_[1] == 'u' ? JsonKind::kWord : JsonKind::kNotFinite;
  if (c == 'N' || c == 'i' || c == 'I') return JsonKind::kNotFinite;
  return JsonKind::kError;
}

void JsonScanner::FinishString(const char* begin, bool high, bool control, JsonText& text) {
  const std::string_view bytes(begin, text.size);
  if (control) {
    const auto* bad = std::find_if(bytes.begin(), bytes.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    control_bytes_.Add(OffsetOf(begin) + static_cast<uint64_t>(bad - bytes.begin()));
    text.dirty = true;
  }
  if (high) {
    const size_t valid = ValidUtf8Prefix(bytes);
    if (valid != bytes.size()) {
      not_utf8_.Add(OffsetOf(begin) + valid);
      text.dirty = true;
    }
  }
}

bool JsonScanner::ReadString(JsonText& text) {
  if (Peek() != '"') return FailUnexpected('"');
  token_ = next_++;
  text.escaped = false;
  text.dirty = false;
  bool high = false;
  bool control = false;
  for (;;) {
    next_ = FindSpecial(next_);
    const char c = *next_;
    if (c == '"') break;
    if (c == '\\') {
      text.escaped = true;
      if (!Ensure(2)) {
        next_ = end_;
        return Fail("the input ends within a string");
      }
      next_ += 2;
    } else if (static_cast<signed char>(c) < 0) {
      high = true;
      ++next_;
    } else if (next_ != end_) {
      control = true;
      ++next_;
    } else if (!Refill()) {
      return Fail("the input ends within a string");
    }
  }
  const char* begin = token_ + 1;
  text.begin = static_cast<uint32_t>(begin - Kept());
  text.size = static_cast<uint32_t>(next_ - begin);
  ++next_;
  if (high || control) FinishString(begin, high, control, text);
  return true;
}

bool JsonScanner::ReadNumber(JsonText& text) {
  (void)Peek();
  token_ = next_;
  bool digits = false;
  for (;;) {
    while (IsNumberByte(*next_)) digits = IsDigit(*next_++) || digits;
    if (next_ != end_ || !Refill()) break;
  }
  text = {.begin = static_cast<uint32_t>(token_ - Kept()),
          .size = static_cast<uint32_t>(next_ - token_)};
  return digits || Fail("expected a number");
}

bool JsonScanner::ReadWord(JsonText& text) {
  (void)Peek();
  token_ = next_;
  if (*next_ == '-' || *next_ == '+') ++next_;
  for (;;) {
    while (absl::ascii_isalpha(static_cast<unsigned char>(*next_)) || *next_ == '(' ||
           *next_ == ')') {
      ++next_;
    }
    if (next_ != end_ || !Refill()) break;
  }
  text = {.begin = static_cast<uint32_t>(token_ - Kept()),
          .size = static_cast<uint32_t>(next_ - token_)};
  std::string_view word = View(text);
  if (word == "true" || word == "false" || word == "null") return true;
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  if (EqualsIgnoreCase(word, "inf") || EqualsIgnoreCase(word, "infinity") ||
      EqualsIgnoreCase(word, "nan") || EqualsIgnoreCase(word.substr(0, 4), "nan(")) {
    not_finite_.Add(OffsetOf(token_));
    return true;
  }
  if (at_end()) return Fail("the input ends where a value should be");
  const char first = *token_;
  next_ = token_;
  return Fail(absl::StrCat("expected a value, found ", Shown(first)));
}

bool JsonScanner::SkipScalar(JsonKind kind) {
  JsonText text;
  switch (kind) {
    case JsonKind::kString: return ReadString(text);
    case JsonKind::kNumber: return ReadNumber(text);
    default: return ReadWord(text);
  }
}

bool JsonScanner::SkipValue() {
  std::bitset<kMaxDepth> is_object;
  int depth = 0;
  for (;;) {
    // A value begins here.
    const JsonKind kind = PeekKind();
    bool opened = false;
    if (kind == JsonKind::kObject || kind == JsonKind::kArray) {
      if (depth == kMaxDepth) {
        return Fail(absl::StrCat("values are nested deeper than ", kMaxDepth));
      }
      is_object[static_cast<size_t>(depth++)] = kind == JsonKind::kObject;
      ++next_;
      opened = true;
    } else if (!SkipScalar(kind)) {
      return false;
    }
    // Behind it: ends of containers, then a comma and perhaps a key.
    bool value_follows = false;
    while (depth > 0 && !value_follows) {
      const bool object = is_object[static_cast<size_t>(depth - 1)];
      if (Consume(object ? '}' : ']')) {
        --depth;
        opened = false;
        continue;
      }
      if (!opened && !Expect(',')) return false;
      if (object) {
        JsonText key;
        if (!ReadString(key) || !Expect(':')) return false;
      }
      value_follows = true;
    }
    if (depth == 0) return true;
  }
}

bool JsonScanner::NextMember(bool& first, bool& more, JsonText& key) {
  more = false;
  if (Consume('}')) return true;
  if (!first && !Expect(',')) return false;
  if (!first && Consume('}')) return true;  // a comma behind the last member
  first = false;
  if (!ReadString(key) || !Expect(':')) return false;
  more = true;
  return true;
}

bool JsonScanner::NextElement(bool& first, bool& more) {
  more = false;
  if (Consume(']')) return true;
  if (!first && !Expect(',')) return false;
  if (!first && Consume(']')) return true;
  first = false;
  more = true;
  return true;
}

bool JsonScanner::FindNextEvent() {
  if (pin_ != nullptr) next_ = pin_ + 1;
  return FindEventFromHere();
}

bool JsonScanner::FindEventFromHere() {
  pin_ = nullptr;
  error_ = {};
  for (;;) {
    token_ = next_;
    const auto left = static_cast<size_t>(end_ - next_);
    const void* brace = left > 0 ? std::memchr(next_, '}', left) : nullptr;
    if (brace == nullptr) {
      next_ = token_ = end_;
      if (!Refill()) return false;
      continue;
    }
    next_ = token_ = static_cast<const char*>(brace);
    if (LooksLikeEvent()) return true;
    next_ = token_ + 1;
  }
}

bool JsonScanner::LooksLikeEvent() {
  // token_ keeps the '}' in the window while this looks ahead.
  ++next_;
  if (!Consume(',') || Peek() != '{') return false;
  const auto back = static_cast<size_t>(next_ - token_);
  ++next_;
  if (Peek() != '"') return false;
  constexpr size_t kLongestKey = 6;  // with its quotes: "args"
  (void)Ensure(kLongestKey);
  static constexpr std::array<std::string_view, 8> kKeys = {
      "\"ph\"", "\"ts\"", "\"id\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"dur\"", "\"name\""};
  const std::string_view ahead(next_, std::min(kLongestKey, static_cast<size_t>(end_ - next_)));
  for (const std::string_view key : kKeys) {
    if (!ahead.starts_with(key)) continue;
    next_ += key.size();
    const bool colon = Peek() == ':';
    next_ = token_ + back;
    return colon;
  }
  return false;
}

}  // namespace nanolane::ingest::kineto
