// Names that the process gave numbers to, turned into strings of the dictionary when an event first
// needs them. Bounded by the facts of the ring. Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "libs/trace/dictionary.h"

namespace nanolane::collector {

class NameTable {
 public:
  struct Name {
    trace::StringId id = 0;
    trace::OpFamily family = trace::OpFamily::kOther;
    bool known = true;  // whether the process has said what the number means
  };

  explicit NameTable(trace::DictionaryBuilder& dictionary) : dictionary_(dictionary) {}

  // The first text of a number counts.
  void Add(uint32_t number, std::string_view text);

  // As kernels are called: demangled. "(name not kept)" for 0, "(unknown name)" for what is not
  // known.
  Name Kernel(uint32_t number);
  // As it was given.
  Name Plain(uint32_t number);
  // Empty for 0 and for what is not known.
  const std::string& Text(uint32_t number) const;

 private:
  struct Entry {
    std::string text;
    Name kernel;
    Name plain;
  };

  Name Missing(uint32_t number);

  trace::DictionaryBuilder& dictionary_;
  absl::flat_hash_map<uint32_t, Entry> entries_;
};

}  // namespace nanolane::collector
