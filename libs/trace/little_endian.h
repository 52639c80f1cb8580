// Little-endian integers in byte strings, and the bounds-checked cursor that reads hostile ones.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace nanolane::trace {

static_assert(std::endian::native == std::endian::little,
              "the block codec copies integers as they lie");

template <typename T>
void AppendLittle(std::string& out, T value) {
  static_assert(std::is_integral_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <typename T>
void PutLittle(char* at, T value) {
  static_assert(std::is_integral_v<T>);
  std::memcpy(at, &value, sizeof(T));
}

template <typename T>
T GetLittle(const char* at) {
  static_assert(std::is_integral_v<T>);
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Reads from the front of a byte string; every read says whether there were enough bytes.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  [[nodiscard]] bool Read(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    value = GetLittle<T>(rest_.data());
    rest_.remove_prefix(sizeof(T));
    return true;
  }

  [[nodiscard]] bool ReadBytes(size_t count, std::string_view& bytes) {
    if (rest_.size() < count) return false;
    bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace nanolane::trace
