#include "services/collector/session/clean_text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_format.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::collector {

std::string CleanText(std::string_view bytes) {
  std::string clean;
  while (!bytes.empty()) {
    const size_t valid = ingest::kineto::ValidUtf8Prefix(bytes);
    clean.append(bytes.substr(0, valid));
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    clean.append("\xEF\xBF\xBD");
    bytes.remove_prefix(1);
  }
  return clean;
}

std::string Demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::string FieldText(const char* field, size_t size) {
  return CleanText(
      std::string_view(field, static_cast<size_t>(std::find(field, field + size, '\0') - field)));
}

std::string HexText(const unsigned char* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += absl::StrFormat("%02x", bytes[i]);
  return text;
}

std::string UuidText(const unsigned char (&uuid)[16]) {
  if (std::all_of(std::begin(uuid), std::end(uuid), [](unsigned char byte) { return byte == 0; })) {
    return "";
  }
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof(uuid); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += HexText(&uuid[i], 1);
  }
  return text;
}

}  // namespace nanolane::collector
