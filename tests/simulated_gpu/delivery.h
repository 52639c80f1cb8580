// The client's buffers, and how records get into them. Two are open at a time; a record goes into
// the one of its stream's parity. Not thread-safe: the caller holds one lock around all of it.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/simulated_gpu/activity.h"

namespace nanolane::sim {

class Delivery {
 public:
  void SetCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                    CUpti_BuffersCallbackCompleteFunc completed);

  // Writes all of `work`, out of order, dropping and counting what the client has no room for.
  void Write(std::vector<Work>& work);

  // Gives the client every open buffer that holds something, or all of them.
  void HandBack(bool empty_ones_too);

  // Thread-safe: clients ask in the midst of a callback.
  uint64_t TakeDropped() { return dropped_.exchange(0); }

  // Forgets the callbacks; buffers must have been handed back.
  void Reset();

 private:
  struct OpenBuffer {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    size_t used = 0;
    size_t records = 0;
    size_t max_records = 0;  // 0: as many as fit
  };

  void WriteOne(const Work& work);
  bool MakeRoom(OpenBuffer& buffer, size_t bytes);
  void HandBack(OpenBuffer& buffer);

  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  std::array<OpenBuffer, 2> open_;
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace nanolane::sim
