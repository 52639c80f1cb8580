// Keys of the RocksDB store. docs/storage-format.md has the table; what is written here lies on
// disk: change it only together with the format version.
//
// Integers in keys are big-endian, so that they sort by value; signed ones have their sign bit
// flipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nanolane::store {

inline constexpr uint32_t kFormatVersion = 1;

// Tables of a dictionary, by the number in their keys.
enum class DictionaryTable : uint8_t {
  kStrings = 1,
  kFrames = 2,
  kStacks = 3,
  kOps = 4,
  kSymbols = 5,
};

// Where a block stands.
struct BlockKey {
  uint32_t lane_id = 0;
  int64_t start_ns = 0;
  uint64_t epoch = 0;
  uint64_t sequence = 0;
  uint32_t index = 0;  // of the block in its append
};

// 16 bytes of the 32 hexadecimal digits.
std::string SessionKey(std::string_view session_id);
std::string SessionIdOf(std::string_view session_key);

std::string EpochKey(std::string_view session_key, uint64_t epoch);
uint64_t EpochOf(std::string_view epoch_key);

std::string LaneKey(std::string_view session_key, uint32_t lane_id);

// `first` is the id of the first entry, or for symbols the sequence of their append.
std::string DictionaryKey(std::string_view session_key, uint64_t epoch, DictionaryTable table,
                          uint64_t first);
std::string DictionaryPrefix(std::string_view session_key, uint64_t epoch, DictionaryTable table);

uint64_t IdOfDictionaryKey(std::string_view key);

std::string BlockKeyBytes(std::string_view session_key, const BlockKey& key);
BlockKey ParseBlockKey(std::string_view key);

// Newest first.
std::string TimeKey(int64_t created_unix_ns, std::string_view session_key);
std::string_view SessionKeyOfTimeKey(std::string_view key);

// The first key after all that start with `prefix`.
std::string PrefixEnd(std::string_view prefix);

}  // namespace nanolane::store
