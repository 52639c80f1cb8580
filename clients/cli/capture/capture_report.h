// How a capture goes and what it brought, in words and as JSON. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nanolane/collector/v1/collector.pb.h"

namespace nanolane::cli {

uint64_t CapturedEvents(const nanolane::collector::v1::CaptureStatus& status);
uint64_t LostEvents(const nanolane::collector::v1::CaptureStatus& status);

// "LOST 12 events"; empty when nothing was lost.
std::string LossAlarm(const nanolane::collector::v1::CaptureStatus& status);

// "recording, 1.5 s of 30 s, 12 000 events (kernel 10 000, memcpy 2 000), 8 000 events/s". The rate
// is that since `before`, the message in front of it, and missing where no time has passed.
std::string ProgressText(const nanolane::collector::v1::CaptureStatus& now,
                         const nanolane::collector::v1::CaptureStatus& before);

struct CaptureReport {
  nanolane::collector::v1::CaptureStatus status;            // the last one
  std::string process;                                      // as CommandText has it
  std::vector<nanolane::collector::v1::CaptureKind> kinds;  // what was recorded
  std::vector<std::string> notes;  // of the start; those of the status are added
  std::string server;
};

std::string ToText(const CaptureReport& report);
nlohmann::ordered_json ToJson(const CaptureReport& report);

}  // namespace nanolane::cli
