// absl::StrCat that also takes std::string_view: Debian's Abseil has a string_view of its own.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace nanolane::base {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

template <typename T>
decltype(auto) ForAbsl(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(value);
  } else {
    return (value);
  }
}

template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(ForAbsl(args)...);
}

}  // namespace nanolane::base
