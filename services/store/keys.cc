#include "services/store/keys.h"

#include "absl/strings/escaping.h"
#include "libs/base/str_cat.h"

namespace nanolane::store {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

template <typename T>
void AppendBig(std::string& out, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

template <typename T>
T GetBig(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value << 8 | static_cast<uint8_t>(bytes[at + i]));
  }
  return value;
}

uint64_t FlipSign(int64_t value) { return static_cast<uint64_t>(value) ^ kSignBit; }
int64_t UnflipSign(uint64_t value) { return static_cast<int64_t>(value ^ kSignBit); }

}  // namespace

std::string SessionKey(std::string_view session_id) {
  return absl::HexStringToBytes(base::ToAbsl(session_id));
}

std::string SessionIdOf(std::string_view session_key) {
  return absl::BytesToHexString(base::ToAbsl(session_key));
}

std::string EpochKey(std::string_view session_key, uint64_t epoch) {
  std::string key(session_key);
  AppendBig(key, epoch);
  return key;
}

uint64_t EpochOf(std::string_view epoch_key) {
  return GetBig<uint64_t>(epoch_key, kSessionKeyBytes);
}

std::string LaneKey(std::string_view session_key, uint32_t lane_id) {
  std::string key(session_key);
  AppendBig(key, lane_id);
  return key;
}

std::string DictionaryPrefix(std::string_view session_key, uint64_t epoch, DictionaryTable table) {
  std::string key = EpochKey(session_key, epoch);
  key.push_back(static_cast<char>(table));
  return key;
}

std::string DictionaryKey(std::string_view session_key, uint64_t epoch, DictionaryTable table,
                          uint64_t first) {
  std::string key = DictionaryPrefix(session_key, epoch, table);
  AppendBig(key, first);
  return key;
}

std::string BigEndian(uint64_t value) {
  std::string bytes;
  AppendBig(bytes, value);
  return bytes;
}

uint64_t IdOfDictionaryKey(std::string_view key) {
  return GetBig<uint64_t>(key, kSessionKeyBytes + sizeof(uint64_t) + 1);
}

std::string BlockKeyBytes(std::string_view session_key, const BlockKey& block) {
  std::string key = LaneKey(session_key, block.lane_id);
  AppendBig(key, FlipSign(block.start_ns));
  AppendBig(key, block.epoch);
  AppendBig(key, block.sequence);
  AppendBig(key, block.index);
  return key;
}

BlockKey ParseBlockKey(std::string_view key) {
  constexpr size_t kAt = kSessionKeyBytes;
  return {.lane_id = GetBig<uint32_t>(key, kAt),
          .start_ns = UnflipSign(GetBig<uint64_t>(key, kAt + 4)),
          .epoch = GetBig<uint64_t>(key, kAt + 12),
          .sequence = GetBig<uint64_t>(key, kAt + 20),
          .index = GetBig<uint32_t>(key, kAt + 28)};
}

std::string RunPrefix(std::string_view session_key, uint32_t run) {
  std::string key(session_key);
  AppendBig(key, run);
  return key;
}

std::string SealedKeyBytes(std::string_view session_key, const SealedKey& sealed) {
  std::string key = RunPrefix(session_key, sealed.run);
  AppendBig(key, sealed.lane_id);
  key.push_back(static_cast<char>(sealed.part));
  AppendBig(key, sealed.row);
  AppendBig(key, sealed.number);
  return key;
}

uint32_t RunOf(std::string_view key) { return GetBig<uint32_t>(key, kSessionKeyBytes); }

std::string RowKeyBytes(std::string_view session_key, const RowKey& row) {
  std::string key = LaneKey(session_key, row.lane_id);
  AppendBig(key, row.run);
  AppendBig(key, row.row);
  return key;
}

RowKey ParseRowKey(std::string_view key) {
  return {.lane_id = GetBig<uint32_t>(key, kSessionKeyBytes),
          .run = GetBig<uint32_t>(key, kSessionKeyBytes + 4),
          .row = GetBig<uint16_t>(key, kSessionKeyBytes + 8)};
}

std::string LogKey(std::string_view session_key, uint64_t commit) {
  return EpochKey(session_key, commit);
}

uint64_t CommitOf(std::string_view log_key) { return GetBig<uint64_t>(log_key, kSessionKeyBytes); }

std::string DensityPrefix(std::string_view session_key, int level) {
  std::string key(session_key);
  key.push_back(static_cast<char>(level));
  return key;
}

std::string DensityKey(std::string_view session_key, int level, int64_t row) {
  std::string key = DensityPrefix(session_key, level);
  AppendBig(key, FlipSign(row));
  return key;
}

std::pair<int, int64_t> ParseDensityKey(std::string_view key) {
  return {static_cast<uint8_t>(key[kSessionKeyBytes]),
          UnflipSign(GetBig<uint64_t>(key, kSessionKeyBytes + 1))};
}

std::string TimeKey(int64_t created_unix_ns, std::string_view session_key) {
  std::string key;
  AppendBig(key, ~FlipSign(created_unix_ns));
  key += session_key;
  return key;
}

std::string_view SessionKeyOfTimeKey(std::string_view key) { return key.substr(8); }

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xFF') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
  return end;
}

}  // namespace nanolane::store
