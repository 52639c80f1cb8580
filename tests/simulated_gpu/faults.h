// What the simulated GPU and its CUPTI do wrong on purpose. Each fault has a name, which is that of
// an environment variable too: SIM_DROP_RECORDS=5 at the start of a process equals
// SetFault("SIM_DROP_RECORDS", 5) while it runs. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanolane::sim {

struct Faults {
  std::atomic<int64_t> cupti_version{130001};  // SIM_CUPTI_VERSION; decides on record layouts too
  std::atomic<int64_t> devices{2};             // SIM_DEVICES, before cuInit
  std::atomic<int64_t> drop_records{0};        // SIM_DROP_RECORDS: the next N of device work
  std::atomic<int64_t> zero_times{0};          // SIM_ZERO_TIMES: the next N of device work
  std::atomic<int64_t> stale_head{0};          // SIM_STALE_HEAD: N old kernels open later sessions
  std::atomic<int64_t> subscribe_error{0};     // SIM_SUBSCRIBE_ERROR: a CUptiResult
  std::atomic<int64_t> finalize_error{0};      // SIM_FINALIZE_ERROR: a CUptiResult
  std::atomic<int64_t> enable_error{0};        // SIM_ENABLE_ERROR: a CUptiResult, for any kind
  std::atomic<int64_t> first_enable_ms{0};     // SIM_FIRST_ENABLE_MS: how long it stalls
  std::atomic<int64_t> foreign_ticks{0};       // SIM_FOREIGN_TICKS: another tool set the clock
};

Faults& GetFaults();

// False if there is no such fault.
bool SetFault(std::string_view name, int64_t value);

// $SIM_FOREIGN_SUBSCRIBER: the tool that holds CUPTI's subscription from the start; empty: none.
std::string ForeignSubscriberFromEnvironment();

// Takes one from a count that runs out; false once it has.
bool TakeOne(std::atomic<int64_t>& count);

}  // namespace nanolane::sim
