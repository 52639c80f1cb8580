#include "libs/ingest/kineto/trace_facts.h"

#include "libs/ingest/kineto/decimal.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

// Labels are for people: longer values are cut.
constexpr size_t kMaxLabelBytes = 1'024;
constexpr size_t kMaxDevices = 1'024;

// A string or number as text; "" for everything else.
bool ReadAsText(JsonScanner& scanner, std::string& value) {
  JsonText text;
  switch (scanner.PeekKind()) {
    case JsonKind::kString:
      if (!scanner.ReadString(text)) return false;
      value = CutText(CleanJsonString(scanner.View(text)), kMaxLabelBytes);
      return true;
    case JsonKind::kNumber:
      if (!scanner.ReadNumber(text)) return false;
      value = scanner.View(text);
      return true;
    default: return scanner.SkipValue();
  }
}

bool ReadLabel(JsonScanner& scanner, std::string label, TraceFacts& facts) {
  std::string value;
  if (!ReadAsText(scanner, value)) return false;
  if (!value.empty()) facts.labels.emplace_back(std::move(label), std::move(value));
  return true;
}

bool ReadDevice(JsonScanner& scanner, TraceFacts& facts) {
  DeviceFacts device;
  const bool good = ForEachMember(scanner, [&](std::string_view key) {
    if (key == "name") return ReadAsText(scanner, device.name);
    if (key != "id" && key != "totalGlobalMem") return scanner.SkipValue();
    const bool is_id = key == "id";
    std::string number;
    if (!ReadAsText(scanner, number)) return false;
    if (is_id) {
      (void)ParseSigned(number, device.id);
    } else {
      (void)ParseUnsigned(number, device.memory_bytes);
    }
    return true;
  });
  if (good && facts.devices.size() < kMaxDevices) facts.devices.push_back(std::move(device));
  return good;
}

bool ReadBaseTime(JsonScanner& scanner, TraceFacts& facts) {
  std::string number;
  if (!ReadAsText(scanner, number)) return false;
  facts.has_base_time = ParseSigned(number, facts.base_time_ns);
  return true;
}

// "metadata": {"system": {"uname": {"node": …}}}
bool ReadMetadata(JsonScanner& scanner, TraceFacts& facts) {
  return ForEachMember(scanner, [&](std::string_view outer) {
    if (outer != "system") return scanner.SkipValue();
    return ForEachMember(scanner, [&](std::string_view middle) {
      if (middle != "uname") return scanner.SkipValue();
      return ForEachMember(scanner, [&](std::string_view inner) {
        return inner == "node" ? ReadAsText(scanner, facts.host) : scanner.SkipValue();
      });
    });
  });
}

}  // namespace

bool ReadFact(JsonScanner& scanner, std::string_view key, TraceFacts& facts) {
  if (key == "baseTimeNanoseconds") return ReadBaseTime(scanner, facts);
  if (key == "deviceProperties") {
    return ForEachElement(scanner, [&] { return ReadDevice(scanner, facts); });
  }
  if (key == "distributedInfo") {
    return ForEachMember(scanner, [&](std::string_view member) {
      const bool wanted = member == "rank" || member == "world_size" || member == "backend";
      return wanted ? ReadLabel(scanner, std::string(member), facts) : scanner.SkipValue();
    });
  }
  if (key == "traceName") return ReadLabel(scanner, "trace_name", facts);
  if (key == "trace_id") return ReadLabel(scanner, "trace_id", facts);
  if (key == "host" || key == "hostname" || key == "host_name") {
    return ReadAsText(scanner, facts.host);
  }
  if (key == "metadata") return ReadMetadata(scanner, facts);
  return scanner.SkipValue();
}

}  // namespace nanolane::ingest::kineto
