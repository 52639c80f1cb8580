#include "tests/simulated_gpu/faults.h"

#include <cstdlib>

namespace nanolane::sim {
namespace {

struct Named {
  const char* name;
  std::atomic<int64_t> Faults::*fault;
};

constexpr Named kNamed[] = {
    {"SIM_CUPTI_VERSION", &Faults::cupti_version},
    {"SIM_DEVICES", &Faults::devices},
    {"SIM_DROP_RECORDS", &Faults::drop_records},
    {"SIM_ZERO_TIMES", &Faults::zero_times},
    {"SIM_STALE_HEAD", &Faults::stale_head},
    {"SIM_SUBSCRIBE_ERROR", &Faults::subscribe_error},
    {"SIM_FINALIZE_ERROR", &Faults::finalize_error},
    {"SIM_ENABLE_ERROR", &Faults::enable_error},
    {"SIM_FIRST_ENABLE_MS", &Faults::first_enable_ms},
    {"SIM_FOREIGN_TICKS", &Faults::foreign_ticks},
};

Faults* ReadEnvironment() {
  auto* faults = new Faults;
  for (const Named& named : kNamed) {
    const char* value = std::getenv(named.name);
    if (value != nullptr) (faults->*named.fault).store(std::strtoll(value, nullptr, 10));
  }
  return faults;
}

}  // namespace

Faults& GetFaults() {
  // Outlives every thread that may still launch while the process exits.
  static Faults* const faults = ReadEnvironment();
  return *faults;
}

bool SetFault(std::string_view name, int64_t value) {
  for (const Named& named : kNamed) {
    if (name != named.name) continue;
    (GetFaults().*named.fault).store(value);
    return true;
  }
  return false;
}

std::string ForeignSubscriberFromEnvironment() {
  const char* name = std::getenv("SIM_FOREIGN_SUBSCRIBER");
  return name == nullptr ? "" : name;
}

bool TakeOne(std::atomic<int64_t>& count) {
  if (count.load(std::memory_order_relaxed) <= 0) return false;
  return count.fetch_sub(1) > 0;
}

}  // namespace nanolane::sim
