// CUPTI as the process has it: found and bound at run time, so that the library is built once for
// CUDA 12 and 13, and so that a process without CUPTI is unharmed.
//
// Record layouts belong to the version of the loaded library. The fields that are read lie at the
// same offsets in every version from 12.0 to 13.5 (compared header by header); any other is
// refused.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace nanolane::inject {

struct CuptiLibrary {
  uint32_t version =
      0;  // as cuptiGetVersion: 18…28 for CUDA 12, then 130000 + 100 * minor + update

  CUptiResult (*get_version)(uint32_t*);
  CUptiResult (*get_result_string)(CUptiResult, const char**);
  CUptiResult (*get_timestamp)(uint64_t*);
  CUptiResult (*subscribe)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*);
  // From 13.0; null before. Tells who holds the subscription.
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                              CUpti_SubscriberParams*);
  CUptiResult (*enable_callback)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                 CUpti_CallbackId);
  CUptiResult (*get_callback_name)(CUpti_CallbackDomain, uint32_t, const char**);
  CUptiResult (*register_callbacks)(CUpti_BuffersCallbackRequestFunc,
                                    CUpti_BuffersCallbackCompleteFunc);
  CUptiResult (*enable)(CUpti_ActivityKind);
  CUptiResult (*enable_and_dump)(CUpti_ActivityKind);  // from 12.2; null before
  CUptiResult (*disable)(CUpti_ActivityKind);
  CUptiResult (*flush_all)(uint32_t);
  CUptiResult (*get_next_record)(uint8_t*, size_t, CUpti_Activity**);
  CUptiResult (*get_dropped)(CUcontext, uint32_t, size_t*);
  CUptiResult (*set_attribute)(CUpti_ActivityAttribute, size_t*, void*);
  CUptiResult (*get_stream_id)(CUcontext, CUstream, uint8_t, uint32_t*);
  CUptiResult (*get_device_id)(CUcontext, uint32_t*);
  CUptiResult (*finalize)();
};

enum class CuptiProblem : uint8_t { kNone, kNotFound, kIncomplete, kUnknownVersion };

// Loads it once; later calls give the same. On a problem the result is null and `text` says what
// to do. The agent's thread alone.
const CuptiLibrary* LoadCupti(CuptiProblem* problem, char* text, size_t text_bytes);

// What a user of this version should know; null: nothing.
const char* KnownFaultOf(uint32_t version);

// Whether the record layouts of `version` are known.
bool LayoutIsKnown(uint32_t version);

}  // namespace nanolane::inject
