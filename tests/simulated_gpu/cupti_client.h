// A small client of CUPTI, as a tool would be one, for tests of the simulated CUPTI. It turns on
// what it is asked to, keeps copies of all records and callbacks, and leaves by cuptiFinalize. One
// at a time, because CUPTI's callbacks for buffers have no user data. Thread-safe.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace nanolane::sim {

struct SeenCallback {
  CUpti_CallbackDomain domain;
  uint32_t cbid;
  CUpti_ApiCallbackSite site;
  std::string function;
  uint32_t correlation;
  uint64_t time;     // cuptiGetTimestamp
  int64_t thread;    // operating-system id
  CUstream stream;   // of a launch or a stream's synchronization
  int result;        // at EXIT
  uint64_t carried;  // what correlationData held; at ENTER it is set to the correlation
  uint32_t context;
};

class CuptiClient {
 public:
  struct Options {
    size_t buffer_bytes = 64 << 10;
    size_t max_records = 0;
    // After so many buffers the client has no more; negative: it always has.
    int64_t buffers = -1;
  };

  CuptiClient() : CuptiClient(Options{}) {}
  explicit CuptiClient(Options options);
  ~CuptiClient();
  CuptiClient(const CuptiClient&) = delete;
  CuptiClient& operator=(const CuptiClient&) = delete;

  CUptiResult Subscribe();
  CUptiResult Unsubscribe();
  std::string holder() const { return holder_; }
  CUptiResult EnableCallbacks(CUpti_CallbackDomain domain);
  CUptiResult EnableCallback(CUpti_CallbackDomain domain, uint32_t cbid);

  // Copies of all records of a kind so far; flushes first.
  template <typename Record>
  std::vector<Record> Records(CUpti_ActivityKind kind, uint32_t flush_flag = 0) {
    cuptiActivityFlushAll(flush_flag);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Record> records;
    for (const uint8_t* record : records_[kind]) {
      records.push_back(*reinterpret_cast<const Record*>(record));
    }
    return records;
  }
  std::vector<SeenCallback> callbacks();
  size_t buffers_returned();
  size_t largest_valid_bytes();
  // Buffers that CUPTI holds.
  size_t buffers_out();

 private:
  struct Buffer {
    size_t size;
    std::unique_ptr<uint8_t[]> bytes;
  };

  static void Requested(uint8_t** buffer, size_t* size, size_t* max_records);
  static void Completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                        size_t valid_bytes);
  static void Called(void* client, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                     const void* data);
  void Seen(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const CUpti_CallbackData& data);

  const Options options_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::string holder_;
  std::mutex mutex_;
  std::vector<Buffer> buffers_;
  std::set<const uint8_t*> out_;
  int64_t given_ = 0;
  size_t returned_ = 0;
  size_t largest_valid_ = 0;
  std::map<CUpti_ActivityKind, std::vector<const uint8_t*>> records_;
  std::vector<SeenCallback> callbacks_;
};

}  // namespace nanolane::sim
