#include "libs/trace/block_header.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "libs/base/str_cat.h"
#include "libs/trace/little_endian.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nanolane::trace {
namespace {

constexpr uint32_t kMagic = 0x31424C4E;  // "NLB1"
constexpr size_t kChecksumFrom = 16;
constexpr uint32_t kFlagSorted = 1;
constexpr uint32_t kFlagDisjoint = 2;
constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

int64_t UnionLength(const EventColumns& events, bool sorted) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  if (!sorted) {
    spans.reserve(events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      spans.emplace_back(events.start_ns[i], EndOf(events.start_ns[i], events.duration_ns[i]));
    }
    std::sort(spans.begin(), spans.end());
  }
  uint64_t length = 0;
  int64_t covered_to = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t start = sorted ? events.start_ns[i] : spans[i].first;
    const int64_t end = sorted ? EndOf(start, events.duration_ns[i]) : spans[i].second;
    const int64_t from = std::max(start, covered_to);
    if (end > from) {
      length += static_cast<uint64_t>(end) - static_cast<uint64_t>(from);
      covered_to = end;
    }
  }
  return static_cast<int64_t>(std::min<uint64_t>(length, static_cast<uint64_t>(kMaxTime)));
}

void DescribeTimes(const EventColumns& events, BlockHeader& header) {
  header.first_ns = std::numeric_limits<int64_t>::max();
  header.last_ns = std::numeric_limits<int64_t>::min();
  header.sorted = true;
  header.disjoint = true;
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t start = events.start_ns[i];
    const int64_t end = EndOf(start, events.duration_ns[i]);
    if (i > 0 && start < events.start_ns[i - 1]) header.sorted = false;
    if (i > 0 && start < header.last_ns) header.disjoint = false;
    header.first_ns = std::min(header.first_ns, start);
    header.last_ns = std::max(header.last_ns, end);
    header.longest_ns = std::max(header.longest_ns, events.duration_ns[i]);
  }
  header.disjoint = header.disjoint && header.sorted;
  header.busy_ns = UnionLength(events, header.sorted);
}

void DescribeMemory(const EventColumns& events, BlockHeader& header) {
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t level = events.level_bytes[i];
    if (level == kNoLevel) continue;
    if (header.level_lowest == kNoLevel) {
      header.level_before = static_cast<int64_t>(static_cast<uint64_t>(level) -
                                                 static_cast<uint64_t>(events.bytes[i]));
      header.level_lowest = level;
      header.level_highest = level;
    }
    header.level_lowest = std::min(header.level_lowest, level);
    header.level_highest = std::max(header.level_highest, level);
  }
}

}  // namespace

absl::Status CorruptBlock(std::string_view what) {
  return absl::DataLossError(base::StrCat("corrupt block: ", what));
}

BlockHeader DescribeBlock(const EventColumns& events, const EncodeOptions& options) {
  BlockHeader header;
  header.lane = options.lane;
  header.event_count = static_cast<uint32_t>(events.size());
  header.needs = options.needs;
  header.needs.ops = *std::max_element(events.op.begin(), events.op.end());
  header.needs.stacks = *std::max_element(events.stack.begin(), events.stack.end());
  DescribeTimes(events, header);
  DescribeMemory(events, header);
  return header;
}

void WriteBlockHeader(const BlockHeader& header, uint32_t column_count, std::string& block) {
  char* at = block.data();
  PutLittle<uint32_t>(at, kMagic);
  PutLittle<uint32_t>(at + 4, header.version);
  PutLittle<uint32_t>(at + 16, static_cast<uint32_t>(block.size()));
  PutLittle<uint32_t>(at + 20, header.lane);
  PutLittle<uint32_t>(at + 24, header.event_count);
  PutLittle<uint32_t>(at + 28,
                      (header.sorted ? kFlagSorted : 0) | (header.disjoint ? kFlagDisjoint : 0));
  PutLittle<int64_t>(at + 32, header.first_ns);
  PutLittle<int64_t>(at + 40, header.last_ns);
  PutLittle<int64_t>(at + 48, header.longest_ns);
  PutLittle<int64_t>(at + 56, header.busy_ns);
  PutLittle<uint32_t>(at + 64, header.needs.strings);
  PutLittle<uint32_t>(at + 68, header.needs.frames);
  PutLittle<uint32_t>(at + 72, header.needs.stacks);
  PutLittle<uint32_t>(at + 76, header.needs.ops);
  PutLittle<int64_t>(at + 80, header.level_before);
  PutLittle<int64_t>(at + 88, header.level_lowest);
  PutLittle<int64_t>(at + 96, header.level_highest);
  PutLittle<uint32_t>(at + 104, column_count);
  PutLittle<uint64_t>(at + 8, XXH3_64bits(at + kChecksumFrom, block.size() - kChecksumFrom));
}

absl::StatusOr<BlockHeader> ReadBlockHeader(std::string_view block) {
  if (block.size() < kBlockHeaderBytes)
    return CorruptBlock(base::StrCat("it has only ", block.size(), " bytes"));
  const char* at = block.data();
  if (GetLittle<uint32_t>(at) != kMagic) return CorruptBlock("it does not start with NLB1");
  BlockHeader header;
  header.version = GetLittle<uint32_t>(at + 4);
  if (header.version > kBlockVersion) {
    return absl::UnimplementedError(base::StrCat("block version ", header.version,
                                                 " is newer than ", kBlockVersion,
                                                 ", the newest known here; upgrade this program"));
  }
  if (GetLittle<uint32_t>(at + 16) != block.size())
    return CorruptBlock("its size is not what it says");
  if (GetLittle<uint64_t>(at + 8) !=
      XXH3_64bits(at + kChecksumFrom, block.size() - kChecksumFrom)) {
    return CorruptBlock("its checksum is wrong");
  }
  header.lane = GetLittle<uint32_t>(at + 20);
  header.event_count = GetLittle<uint32_t>(at + 24);
  if (header.event_count == 0 || header.event_count > kMaxBlockEvents) {
    return CorruptBlock(base::StrCat("it claims ", header.event_count, " events"));
  }
  const auto flags = GetLittle<uint32_t>(at + 28);
  header.sorted = (flags & kFlagSorted) != 0;
  header.disjoint = (flags & kFlagDisjoint) != 0;
  header.first_ns = GetLittle<int64_t>(at + 32);
  header.last_ns = GetLittle<int64_t>(at + 40);
  header.longest_ns = GetLittle<int64_t>(at + 48);
  header.busy_ns = GetLittle<int64_t>(at + 56);
  header.needs = {.strings = GetLittle<uint32_t>(at + 64),
                  .frames = GetLittle<uint32_t>(at + 68),
                  .stacks = GetLittle<uint32_t>(at + 72),
                  .ops = GetLittle<uint32_t>(at + 76)};
  header.level_before = GetLittle<int64_t>(at + 80);
  header.level_lowest = GetLittle<int64_t>(at + 88);
  header.level_highest = GetLittle<int64_t>(at + 96);
  return header;
}

uint32_t ColumnCountOf(std::string_view block) { return GetLittle<uint32_t>(block.data() + 104); }

}  // namespace nanolane::trace
