// From CUPTI's activity records to records of the ring. The agent's thread alone; it can wait where
// the ring is full, so it stops before a record that has no room and goes on later.
#pragma once

#include <cstdint>

#include "services/collector/inject/activity_buffers.h"
#include "services/collector/inject/clock_map.h"
#include "services/collector/inject/cupti_library.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {

class ActivityDecoder {
 public:
  void Start(const CuptiLibrary& cupti, const ClockMap& clock);

  // Decodes what is complete. False: the ring is full and something waits. With `drop`, what has no
  // room is counted as lost instead. Begins no buffer once it is `until_ns`: what was launched
  // after the end of the capture can be told apart only when that is set.
  bool DecodeCompleted(const CaptureUse& use, bool drop, int64_t until_ns = INT64_MAX);

  // Allocations before this time are not of the capture.
  void SetBegin(int64_t on_ns) { on_ns_ = on_ns; }
  // Device work that was launched after the call `last`, and allocations from `off_ns` on, are not
  // of the capture. Without a call (0) device work is cut by its own time.
  void SetEnd(int64_t off_ns, uint32_t last) {
    off_ns_ = off_ns;
    last_correlation_ = last;
  }

  // Records of the capture that were taken so far.
  uint64_t records() const { return records_; }
  // Kernels (not of graphs) whose launch call was seen by the callbacks, so far.
  uint64_t kernels() const { return kernels_; }

 private:
  enum class Verdict : uint8_t { kDone, kNoRoom };

  Verdict Decode(const CaptureUse& use, const CUpti_Activity& activity);
  Verdict DecodeKernel(const CaptureUse& use, const CUpti_Activity& activity);
  // Of both kinds of copies; devices -1: not between peers.
  template <typename From>
  Verdict DecodeCopy(const CaptureUse& use, const From& from, int32_t source_device,
                     int32_t destination_device);
  Verdict DecodePeerCopy(const CaptureUse& use, const CUpti_Activity& activity);
  Verdict DecodeMemset(const CaptureUse& use, const CUpti_Activity& activity);
  Verdict DecodeMemory(const CaptureUse& use, const CUpti_Activity& activity);
  void DecodeContext(const CaptureUse& use, const CUpti_Activity& activity);

  bool IsOutside(uint32_t correlation, uint64_t start) const;
  // False, counted: the times make no span.
  bool HasTimes(const CaptureUse& use, uint64_t start, uint64_t end, uint32_t kind) const;

  // Whether a record of `bytes` may be written now: there is room, or it need not wait for any.
  bool MayWrite(const CaptureUse& use, size_t bytes) const;
  template <typename Record, typename Fill>
  Verdict Write(const CaptureUse& use, wire::RecordType type, uint32_t kind, Fill fill);

  const CuptiLibrary* cupti_ = nullptr;
  const ClockMap* clock_ = nullptr;
  int64_t on_ns_ = INT64_MIN;
  int64_t off_ns_ = INT64_MAX;
  uint32_t last_correlation_ = 0;
  uint64_t records_ = 0;
  uint64_t kernels_ = 0;
  bool drop_ = false;
  // The record that waits for room, within the oldest completed buffer; null: its first.
  CUpti_Activity* next_ = nullptr;
  bool next_waits_ = false;
};

}  // namespace nanolane::inject
