#include "tests/simulated_gpu/cupti_client.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>

namespace nanolane::sim {
namespace {

CuptiClient* current = nullptr;

CUstream StreamOf(CUpti_CallbackDomain domain, uint32_t cbid, const void* parameters) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    switch (cbid) {
      case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
        return static_cast<const cudaLaunchKernel_v7000_params*>(parameters)->stream;
      case CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020:
        return static_cast<const cudaStreamSynchronize_v3020_params*>(parameters)->stream;
      default: return nullptr;
    }
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
    return static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
  }
  return nullptr;
}

}  // namespace

CuptiClient::CuptiClient(Options options) : options_(options) {
  assert(current == nullptr);
  current = this;
  cuptiActivityRegisterCallbacks(&Requested, &Completed);
}

CuptiClient::~CuptiClient() {
  cuptiFinalize();
  current = nullptr;
}

CUptiResult CuptiClient::Subscribe() {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "the test's client";
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = sizeof(holder);
  const CUptiResult result = cuptiSubscribe_v2(&subscriber_, &Called, this, &params);
  holder_ = holder;
  return result;
}

CUptiResult CuptiClient::Unsubscribe() { return cuptiUnsubscribe(subscriber_); }

CUptiResult CuptiClient::EnableCallbacks(CUpti_CallbackDomain domain) {
  return cuptiEnableDomain(1, subscriber_, domain);
}

CUptiResult CuptiClient::EnableCallback(CUpti_CallbackDomain domain, uint32_t cbid) {
  return cuptiEnableCallback(1, subscriber_, domain, cbid);
}

std::vector<SeenCallback> CuptiClient::callbacks() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return callbacks_;
}

size_t CuptiClient::buffers_returned() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return returned_;
}

size_t CuptiClient::largest_valid_bytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return largest_valid_;
}

size_t CuptiClient::buffers_out() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return out_.size();
}

void CuptiClient::Requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  CuptiClient& client = *current;
  const std::lock_guard<std::mutex> lock(client.mutex_);
  *buffer = nullptr;
  *size = 0;
  *max_records = client.options_.max_records;
  if (client.options_.buffers >= 0 && client.given_ >= client.options_.buffers) return;
  ++client.given_;
  *size = client.options_.buffer_bytes;
  client.buffers_.push_back({*size, std::make_unique<uint8_t[]>(*size)});
  *buffer = client.buffers_.back().bytes.get();
  client.out_.insert(*buffer);
}

void CuptiClient::Completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  CuptiClient& client = *current;
  const std::lock_guard<std::mutex> lock(client.mutex_);
  client.out_.erase(buffer);
  ++client.returned_;
  client.largest_valid_ = std::max(client.largest_valid_, valid_bytes);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    client.records_[record->kind].push_back(reinterpret_cast<const uint8_t*>(record));
  }
}

void CuptiClient::Called(void* client, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void* data) {
  const bool is_api = domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
  static const CUpti_CallbackData kNone{};
  static_cast<CuptiClient*>(client)->Seen(
      domain, cbid, is_api ? *static_cast<const CUpti_CallbackData*>(data) : kNone);
}

void CuptiClient::Seen(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                       const CUpti_CallbackData& data) {
  SeenCallback seen{};
  seen.domain = domain;
  seen.cbid = cbid;
  seen.site = data.callbackSite;
  seen.function = data.functionName == nullptr ? "" : data.functionName;
  seen.correlation = data.correlationId;
  seen.thread = syscall(SYS_gettid);
  seen.context = data.contextUid;
  cuptiGetTimestamp(&seen.time);
  if (data.functionParams != nullptr) seen.stream = StreamOf(domain, cbid, data.functionParams);
  if (data.functionReturnValue != nullptr) {
    seen.result = *static_cast<const int*>(data.functionReturnValue);
  }
  if (data.correlationData != nullptr) {
    seen.carried = *data.correlationData;
    *data.correlationData = data.correlationId;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  callbacks_.push_back(seen);
}

}  // namespace nanolane::sim
