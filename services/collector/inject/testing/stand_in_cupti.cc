// A CUPTI for tests, loaded through NANOLANE_CUPTI: every call succeeds, there is never a record,
// and its clock is that of the system.
#include <cupti.h>

#include <cstdlib>
#include <ctime>

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130101;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "stand-in";
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetTimestamp(uint64_t* time) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  static int held = 0;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&held);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiFinalize() { return CUPTI_SUCCESS; }
// Not CUPTI's: frees as the library's own code would.
EXPORT void StandInFree(void* block) { free(block); }
EXPORT CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                       CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char**) {
  return CUPTI_ERROR_INVALID_PARAMETER;
}
EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc,
                                                  CUpti_BuffersCallbackCompleteFunc) {
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
EXPORT CUptiResult cuptiActivityFlushAll(uint32_t) { return CUPTI_SUCCESS; }
EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t*, size_t, CUpti_Activity**) {
  return CUPTI_ERROR_MAX_LIMIT_REACHED;
}
EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream, uint8_t, uint32_t*) {
  return CUPTI_ERROR_INVALID_STREAM;
}
EXPORT CUptiResult cuptiGetDeviceId(CUcontext, uint32_t*) { return CUPTI_ERROR_INVALID_CONTEXT; }
