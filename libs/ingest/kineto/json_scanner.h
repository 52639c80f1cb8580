// A pull scanner for JSON of any length in a window that moves over a stream of chunks.
//
// Why not a SAX library: traces in the wild hold bare `inf`, raw control bytes, names that are not
// UTF-8, and events with unescaped quotes. The scanner takes the first three in and counts them; on
// a violation of the grammar it says at which byte, and the caller may search for the next event
// and go on. Whole values are skipped at full speed, with the grammar still checked, so that
// a stray quote is found where it stands and not at the end of the file.
//
// Functions return false once something is wrong; error() then says what and where. Offsets count
// bytes of the (inflated) stream. Memory: one chunk and the pinned bytes. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libs/ingest/kineto/byte_source.h"

namespace nanolane::ingest::kineto {

// The text of a string (without quotes, escapes not yet resolved) or number in the window. Valid
// while the bytes around it are pinned, else until the next token is read.
struct JsonText {
  uint32_t begin = 0;  // from the pin
  uint32_t size = 0;
  bool escaped = false;  // holds backslashes
  bool dirty = false;    // holds raw control bytes or bytes that are not UTF-8
};

enum class JsonKind : uint8_t { kString, kNumber, kNotFinite, kObject, kArray, kWord, kError };

// How often something was seen that JSON forbids and the scanner takes in, and where first.
struct Oddity {
  uint64_t count = 0;
  uint64_t first_offset = 0;

  void Add(uint64_t offset) {
    if (count++ == 0) first_offset = offset;
  }
};

class JsonScanner {
 public:
  // Deeper nesting is an error.
  static constexpr int kMaxDepth = 128;
  // A pinned stretch (one event) that is larger is an error.
  static constexpr size_t kMaxPinnedBytes = 16 << 20;

  struct Error {
    std::string what;
    uint64_t offset = 0;
    bool at_end = false;  // the input ended where more was needed
  };

  explicit JsonScanner(ChunkSource& source);

  // The next byte that is not white space, not consumed; '\0' at the end of the input.
  char Peek() {
    for (;;) {
      while (IsSpace(*next_)) ++next_;
      if (*next_ != '\0' || next_ != end_) return *next_;
      if (!Refill()) return '\0';
    }
  }
  // Consumes `wanted` if it comes next.
  bool Consume(char wanted) {
    if (Peek() != wanted) return false;
    ++next_;
    return true;
  }
  // Consumes `wanted`; an error where something else comes.
  bool Expect(char wanted) { return Consume(wanted) || FailUnexpected(wanted); }

  // What the next value is. kError without an error being set: no value begins here.
  JsonKind PeekKind();

  bool ReadString(JsonText& text);
  bool ReadNumber(JsonText& text);
  // true, false, null, and inf or nan in any spelling.
  bool ReadWord(JsonText& text);
  bool SkipValue();

  // After '{' or '[' was consumed: whether another member (its key read, its ':' consumed) or
  // element follows. `first` starts as true. At the end the bracket is consumed and `more` false.
  bool NextMember(bool& first, bool& more, JsonText& key);
  bool NextElement(bool& first, bool& more);

  // Keeps all bytes from the next one on in the window, until Unpin or another Pin.
  void Pin() { pin_ = next_; }
  void Unpin() { pin_ = nullptr; }
  std::string_view View(const JsonText& text) const {
    return {(pin_ != nullptr ? pin_ : token_) + text.begin, text.size};
  }

  // Goes back to one byte behind the pin (where there is one), unpins, clears the error, and
  // searches for what looks like the beginning of an event in a list of events: `},{"` and one of
  // an event's keys. True: the '{' is next. False: the input was searched to its end.
  bool FindNextEvent();
  // As FindNextEvent, from the next byte on.
  bool FindEventFromHere();

  // Up to `count` of the bytes that come next, white space included; not consumed.
  std::string_view Ahead(size_t count);
  // Consumes `count` bytes that Ahead has shown.
  void Drop(size_t count) { next_ += count; }
  // Reads the input to its end, looking at nothing.
  void Drain();

  uint64_t offset() const { return OffsetOf(next_); }
  bool at_end() { return Peek() == '\0' && next_ == end_ && input_ended_; }
  const Error& error() const { return error_; }
  bool Fail(std::string what);

  const Oddity& not_utf8() const { return not_utf8_; }
  const Oddity& control_bytes() const { return control_bytes_; }
  const Oddity& not_finite() const { return not_finite_; }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  uint64_t OffsetOf(const char* at) const {
    return window_offset_ + static_cast<uint64_t>(at - window_.get());
  }
  const char* Kept() const { return pin_ != nullptr ? pin_ : token_; }
  // Takes in another chunk behind end_. Keeps the bytes from the pin (or else the token) on.
  bool Refill();
  // Makes `count` bytes from next_ on available, if the input has them.
  bool Ensure(size_t count);
  bool FailUnexpected(char wanted);
  void FinishString(const char* begin, bool high, bool control, JsonText& text);
  bool SkipScalar(JsonKind kind);
  bool LooksLikeEvent();

  ChunkSource& source_;
  std::unique_ptr<char[]> window_;
  size_t capacity_ = 0;
  uint64_t window_offset_ = 0;  // of window_[0] in the stream
  const char* next_ = nullptr;
  const char* end_ = nullptr;  // kPadding zero bytes follow
  const char* pin_ = nullptr;
  const char* token_ = nullptr;
  bool input_ended_ = false;
  Error error_;
  Oddity not_utf8_;
  Oddity control_bytes_;
  Oddity not_finite_;
};

// Calls `member(key)`, which reads the value and says whether that went well, for each member of
// the object that is next; skips any other value. The key is valid as its JsonText would be: unless
// its bytes are pinned, until the value is read.
template <typename Member>
bool ForEachMember(JsonScanner& scanner, Member member) {
  if (scanner.PeekKind() != JsonKind::kObject) return scanner.SkipValue();
  scanner.Drop(1);
  bool first = true;
  bool more = false;
  JsonText key;
  for (;;) {
    if (!scanner.NextMember(first, more, key)) return false;
    if (!more) return true;
    if (!member(scanner.View(key))) return false;
  }
}

// As ForEachMember, for the elements of an array: `element()` reads one.
template <typename Element>
bool ForEachElement(JsonScanner& scanner, Element element) {
  if (scanner.PeekKind() != JsonKind::kArray) return scanner.SkipValue();
  scanner.Drop(1);
  bool first = true;
  bool more = false;
  for (;;) {
    if (!scanner.NextElement(first, more)) return false;
    if (!more) return true;
    if (!element()) return false;
  }
}

}  // namespace nanolane::ingest::kineto
