// Text of a trace made fit for a dictionary: escapes resolved, valid UTF-8, bounded length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nanolane::ingest::kineto {

// Length of the longest prefix that is valid UTF-8 (no overlong forms, no surrogates). O(length).
size_t ValidUtf8Prefix(std::string_view bytes);

// The inside of a JSON string as text: escapes resolved; raw control bytes, lone surrogates,
// unknown escapes and each byte that is not UTF-8 replaced by U+FFFD. O(length).
std::string CleanJsonString(std::string_view inside);

// Abseil's functions of these names take its own string_view, which is another type here.
bool Contains(std::string_view text, std::string_view part);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);  // of ASCII
bool ConsumePrefix(std::string_view& text, std::string_view prefix);

// At most `max_bytes` bytes of valid UTF-8 text, cut between characters.
std::string_view CutText(std::string_view text, size_t max_bytes);

}  // namespace nanolane::ingest::kineto
