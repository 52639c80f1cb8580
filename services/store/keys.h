// Keys of the RocksDB store. docs/storage-format.md has the table; what is written here lies on
// disk: change it only together with the format version.
//
// Integers in keys are big-endian, so that they sort by value; signed ones have their sign bit
// flipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace nanolane::store {

inline constexpr uint32_t kFormatVersion = 2;
inline constexpr size_t kSessionKeyBytes = 16;
// In the sequence of a block's key: the block is sealed, the other bits are its run.
inline constexpr uint64_t kSealedBit = uint64_t{1} << 63;

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
  uint64_t sequence = 0;  // of the append, or kSealedBit | run
  uint32_t index = 0;     // of the block in its append or run

  bool sealed() const { return (sequence & kSealedBit) != 0; }
  uint32_t run() const { return static_cast<uint32_t>(sequence); }
};

// What a sealing run writes of a lane.
enum class SealedPart : uint8_t {
  kBlock = 1,
  kPages = 2,  // bundles: bundle.h
  kGroups = 3,
};

// Where a part of a run lies.
struct SealedKey {
  uint32_t run = 0;
  uint32_t lane_id = 0;
  SealedPart part = SealedPart::kBlock;
  uint16_t row = 0;  // of the lane in the run; 0 for blocks
  uint32_t number = 0;
};

// A sealed row, in the order of lane, run, row.
struct RowKey {
  uint32_t lane_id = 0;
  uint32_t run = 0;
  uint16_t row = 0;
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
std::string BigEndian(uint64_t value);

std::string BlockKeyBytes(std::string_view session_key, const BlockKey& key);
BlockKey ParseBlockKey(std::string_view key);

std::string SealedKeyBytes(std::string_view session_key, const SealedKey& key);
std::string RunPrefix(std::string_view session_key, uint32_t run);
// Of a key of the sealed family.
uint32_t RunOf(std::string_view key);

std::string RowKeyBytes(std::string_view session_key, const RowKey& key);
RowKey ParseRowKey(std::string_view key);

std::string LogKey(std::string_view session_key, uint64_t commit);
uint64_t CommitOf(std::string_view log_key);

// A row of density bins.
std::string DensityKey(std::string_view session_key, int level, int64_t row);
std::string DensityPrefix(std::string_view session_key, int level);
std::pair<int, int64_t> ParseDensityKey(std::string_view key);

// Newest first.
std::string TimeKey(int64_t created_unix_ns, std::string_view session_key);
std::string_view SessionKeyOfTimeKey(std::string_view key);

// The first key after all that start with `prefix`.
std::string PrefixEnd(std::string_view prefix);

}  // namespace nanolane::store
