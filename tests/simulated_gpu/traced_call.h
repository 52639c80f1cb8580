// A call of the simulated CUDA as CUPTI sees it: the runtime's function, the driver's in it, and
// what is done in the innermost one.
#pragma once

#include <cupti.h>

#include <optional>

#include "tests/simulated_gpu/callbacks.h"
#include "tests/simulated_gpu/functions.h"

namespace nanolane::sim {

struct TracedCall {
  const Function* runtime;  // null: a driver call alone
  const void* runtime_parameters;
  const Function& driver;
  const void* driver_parameters;
  Context& context;
  bool per_thread = false;
  const char* symbol = nullptr;
};

// Initializes the driver; false: this process cannot call CUDA.
bool IsUsable();

// `body` takes the correlation and returns a CUDA result.
template <typename Body>
Call Trace(const TracedCall& traced, Body body) {
  if (!IsUsable()) return {kErrorNotInitialized, 0};
  const auto options = [&](const Function& function, CUpti_CallbackDomain domain,
                           const void* parameters, uint32_t correlation) {
    return ApiCallOptions{
        .domain = domain,
        .cbid = traced.per_thread ? function.per_thread_cbid : function.cbid,
        .function = traced.per_thread ? function.per_thread_name : function.name,
        .parameters = parameters,
        .context = traced.context,
        .symbol = traced.symbol,
        .correlation = correlation,
    };
  };
  Call call{kSuccess, NextCorrelation()};
  std::optional<ApiCall> runtime;
  if (traced.runtime != nullptr) {
    runtime.emplace(options(*traced.runtime, CUPTI_CB_DOMAIN_RUNTIME_API, traced.runtime_parameters,
                            call.correlation));
  }
  {
    ApiCall driver(options(traced.driver, CUPTI_CB_DOMAIN_DRIVER_API, traced.driver_parameters,
                           call.correlation));
    call.result = body(call.correlation);
    driver.Return(call.result);
  }
  if (runtime.has_value()) runtime->Return(call.result);
  return call;
}

// Work of a stream, with what every record has.
inline Work WorkOn(const Stream& stream, CUpti_ActivityKind kind, Interval interval,
                   uint32_t correlation) {
  Work work;
  work.kind = kind;
  work.correlation = correlation;
  work.start_ns = interval.start_ns;
  work.end_ns = interval.end_ns;
  work.device = stream.context.device;
  work.context = stream.context.id;
  work.stream = stream.id;
  return work;
}

}  // namespace nanolane::sim
