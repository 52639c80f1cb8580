#include "libs/ingest/kineto/text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"

namespace nanolane::ingest::kineto {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char Byte(std::string_view bytes, size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

bool IsContinuation(std::string_view bytes, size_t i) {
  return i < bytes.size() && (Byte(bytes, i) & 0xC0) == 0x80;
}

// Length of the valid character at `i`, or 0.
size_t CharacterLength(std::string_view bytes, size_t i) {
  const unsigned char lead = Byte(bytes, i);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || !IsContinuation(bytes, i + 1)) return 0;
  if (lead < 0xE0) return 2;
  const unsigned char second = Byte(bytes, i + 1);
  if (!IsContinuation(bytes, i + 2)) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  const bool out_of_range =
      lead > 0xF4 || (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return out_of_range || !IsContinuation(bytes, i + 3) ? 0 : 4;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto add = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// The four hexadecimal digits at `i`.
bool ReadHex4(std::string_view text, size_t i, uint32_t& value) {
  if (i + 4 > text.size()) return false;
  value = 0;
  for (size_t k = i; k < i + 4; ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if (!absl::ascii_isxdigit(c)) return false;
    const auto digit = absl::ascii_isdigit(c) ? c - '0' : absl::ascii_tolower(c) - 'a' + 10;
    value = value * 16 + static_cast<uint32_t>(digit);
  }
  return true;
}

// Resolves the \uXXXX whose digits begin at `i`; returns the index behind it.
size_t AppendUnicodeEscape(std::string_view text, size_t i, std::string& out) {
  uint32_t code = 0;
  if (!ReadHex4(text, i, code)) {
    out += kReplacement;
    return i;
  }
  i += 4;
  const bool high = code >= 0xD800 && code < 0xDC00;
  uint32_t low = 0;
  if (high && text.substr(i, 2) == "\\u" && ReadHex4(text, i + 2, low) && low >= 0xDC00 &&
      low < 0xE000) {
    AppendUtf8(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), out);
    return i + 6;
  }
  if (code >= 0xD800 && code < 0xE000) {
    out += kReplacement;
  } else {
    AppendUtf8(code, out);
  }
  return i;
}

// Resolves the escape whose letter is at `i`; returns the index behind it.
size_t AppendEscape(std::string_view text, size_t i, std::string& out) {
  if (i >= text.size()) {
    out += kReplacement;
    return i;
  }
  switch (text[i]) {
    case '"':
    case '\\':
    case '/': out.push_back(text[i]); break;
    case 'b': out.push_back('\b'); break;
    case 'f': out.push_back('\f'); break;
    case 'n': out.push_back('\n'); break;
    case 'r': out.push_back('\r'); break;
    case 't': out.push_back('\t'); break;
    case 'u': return AppendUnicodeEscape(text, i + 1, out);
    default: out += kReplacement; return i;  // the letter itself is read as text
  }
  return i + 1;
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    const size_t length = CharacterLength(bytes, i);
    if (length == 0) break;
    i += length;
  }
  return i;
}

std::string CleanJsonString(std::string_view inside) {
  std::string out;
  out.reserve(inside.size());
  size_t i = 0;
  while (i < inside.size()) {
    const unsigned char byte = Byte(inside, i);
    if (byte == '\\') {
      i = AppendEscape(inside, i + 1, out);
      continue;
    }
    const size_t length = byte < 0x20 ? 0 : CharacterLength(inside, i);
    if (length == 0) {
      out += kReplacement;
      ++i;
    } else {
      out.append(inside, i, length);
      i += length;
    }
  }
  return out;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return absl::ascii_tolower(static_cast<unsigned char>(x)) ==
           absl::ascii_tolower(static_cast<unsigned char>(y));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view CutText(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t size = max_bytes;
  while (size > 0 && (Byte(text, size) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace nanolane::ingest::kineto
