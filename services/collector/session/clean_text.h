// Text of a profiled process made fit for a dictionary: protobuf accepts valid UTF-8 alone.
#pragma once

#include <string>
#include <string_view>

namespace nanolane::collector {

// Each byte that is not UTF-8 replaced by U+FFFD. O(length).
std::string CleanText(std::string_view bytes);

// What a C++ compiler meant by the name; the name itself where it is not mangled.
std::string Demangled(const std::string& name);

// What stands before the first 0 of a field of fixed length, made clean.
std::string FieldText(const char* field, size_t size);

// Two digits, of 0 to 9 and a to f, for each byte.
std::string HexText(const unsigned char* bytes, size_t size);

// "GPU-00112233-4455-…"; empty for all zeros.
std::string UuidText(const unsigned char (&uuid)[16]);

}  // namespace nanolane::collector
