#include "tests/simulated_gpu/delivery.h"

#include <algorithm>
#include <cstring>

#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/records.h"

namespace nanolane::sim {
namespace {

// Records of so many neighbours come in reverse.
constexpr size_t kDisorder = 8;

bool IsDeviceWork(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
         kind == CUPTI_ACTIVITY_KIND_MEMCPY2 || kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

}  // namespace

void Delivery::SetCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                            CUpti_BuffersCallbackCompleteFunc completed) {
  HandBack(true);
  requested_ = requested;
  completed_ = completed;
}

void Delivery::Write(std::vector<Work>& work) {
  for (size_t begin = 0; begin < work.size(); begin += kDisorder) {
    const size_t end = std::min(begin + kDisorder, work.size());
    for (size_t i = end; i > begin; --i) WriteOne(work[i - 1]);
  }
}

void Delivery::WriteOne(const Work& work) {
  Faults& faults = GetFaults();
  if (IsDeviceWork(work.kind) && TakeOne(faults.drop_records)) {
    ++dropped_;
    return;
  }
  uint8_t record[kMaxRecordBytes];
  const size_t bytes = [&] {
    if (!IsDeviceWork(work.kind) || !TakeOne(faults.zero_times)) {
      return WriteRecord(work, faults.cupti_version, record);
    }
    Work timeless = work;
    timeless.start_ns = timeless.end_ns = 0;
    return WriteRecord(timeless, faults.cupti_version, record);
  }();
  OpenBuffer& buffer = open_[work.stream % open_.size()];
  if (!MakeRoom(buffer, bytes)) {
    ++dropped_;
    return;
  }
  std::memcpy(buffer.bytes + buffer.used, record, bytes);
  buffer.used += bytes;
  ++buffer.records;
}

bool Delivery::MakeRoom(OpenBuffer& buffer, size_t bytes) {
  const bool is_full = buffer.bytes != nullptr &&
                       (buffer.used + bytes > buffer.size ||
                        (buffer.max_records != 0 && buffer.records >= buffer.max_records));
  if (is_full) HandBack(buffer);
  if (buffer.bytes != nullptr) return true;
  if (requested_ == nullptr) return false;
  OpenBuffer fresh;
  requested_(&fresh.bytes, &fresh.size, &fresh.max_records);
  if (fresh.bytes == nullptr) return false;
  buffer = fresh;
  if (buffer.size >= bytes) return true;
  HandBack(buffer);
  return false;
}

void Delivery::HandBack(bool empty_ones_too) {
  for (OpenBuffer& buffer : open_) {
    if (buffer.bytes != nullptr && (empty_ones_too || buffer.used > 0)) HandBack(buffer);
  }
}

void Delivery::HandBack(OpenBuffer& buffer) {
  const OpenBuffer done = buffer;
  buffer = OpenBuffer{};
  completed_(nullptr, 0, done.bytes, done.size, done.used);
}

void Delivery::Reset() {
  requested_ = nullptr;
  completed_ = nullptr;
}

}  // namespace nanolane::sim
