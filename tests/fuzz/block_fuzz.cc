// libFuzzer target: decodes hostile blocks. Inputs are sealed with the right size and checksum
// first, as an attacker would, so that the fuzzer gets past the door; then once more as they are.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libs/trace/block_codec.h"
#include "libs/trace/little_endian.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

namespace trace = nanolane::trace;

void Decode(const std::string& block) {
  const auto header = trace::ReadBlockHeader(block);
  trace::EventColumns events;
  const absl::Status status = trace::DecodeBlock(block, trace::ColumnSet::All(), events);
  if (!status.ok() && !events.empty()) std::abort();
  if (!status.ok()) return;
  // What decodes has as many events as the header says, and encodes to something equal.
  if (!header.ok() || events.size() != header->event_count) std::abort();
  const auto again = trace::EncodeBlock(events, {.lane = header->lane, .needs = header->needs});
  trace::EventColumns decoded;
  if (!again.ok() || !trace::DecodeBlock(*again, trace::ColumnSet::All(), decoded).ok())
    std::abort();
  for (size_t i = 0; i < events.size(); ++i) {
    if (!(events.At(i) == decoded.At(i))) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string block(reinterpret_cast<const char*>(data), size);
  Decode(block);
  if (block.size() < trace::kBlockHeaderBytes) return 0;
  trace::PutLittle<uint32_t>(block.data(), 0x31424C4E);
  trace::PutLittle<uint32_t>(block.data() + 4, trace::kBlockVersion);
  trace::PutLittle<uint32_t>(block.data() + 16, static_cast<uint32_t>(block.size()));
  trace::PutLittle<uint64_t>(block.data() + 8, XXH3_64bits(block.data() + 16, block.size() - 16));
  Decode(block);
  return 0;
}
