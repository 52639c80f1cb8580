#include "services/collector/static_captures.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/base/time_text.h"
#include "services/collector/capture_kinds.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {
namespace {

using nlohmann::json;

absl::Status Wrong(size_t index, const std::string& what) {
  return absl::InvalidArgumentError(base::StrCat("entry ", index + 1, " of the captures: ", what));
}

// "" where the key is missing; nothing where it is no string.
bool TakeText(const json& entry, const char* key, std::string* text) {
  if (!entry.contains(key)) return true;
  if (!entry[key].is_string()) return false;
  *text = entry[key].get<std::string>();
  return true;
}

absl::StatusOr<StaticCapture> ParseEntry(const json& entry, size_t index) {
  if (!entry.is_object()) return Wrong(index, "is no object");
  for (const auto& [key, value] : entry.items()) {
    constexpr std::string_view kKeys[] = {"name", "user", "duration", "kinds", "project", "labels"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return Wrong(index, base::StrCat("\"", key,
                                       "\" is not known; there are name, user, duration, "
                                       "kinds, project, labels"));
    }
  }
  StaticCapture capture;
  std::string duration;
  std::string project;
  if (!TakeText(entry, "name", &capture.name) || !TakeText(entry, "user", &capture.user) ||
      !TakeText(entry, "duration", &duration) || !TakeText(entry, "project", &project)) {
    return Wrong(index, "name, user, duration and project are strings");
  }
  if (capture.name.empty()) return Wrong(index, "has no name to match processes by");
  const absl::StatusOr<int64_t> length = base::ParseDuration(duration);
  if (!length.ok() || *length <= 0 || *length > inject::wire::kLongestCaptureNs) {
    return Wrong(index,
                 base::StrCat("duration \"", duration,
                              "\" is none such as 30s, or more than 10m, which is the most"));
  }
  capture.request.mutable_duration()->set_seconds(*length / 1'000'000'000);
  capture.request.mutable_duration()->set_nanos(static_cast<int32_t>(*length % 1'000'000'000));
  capture.request.set_project(project);
  const json kinds = entry.value("kinds", json::array());
  if (!kinds.is_array()) return Wrong(index, "kinds is no array");
  for (const json& kind : kinds) {
    if (!kind.is_string()) return Wrong(index, "kinds are strings");
    const auto known = KindByName(kind.get<std::string>());
    if (!known.ok()) return Wrong(index, std::string(known.status().message()));
    capture.request.add_kinds(*known);
  }
  if (const auto bits = KindBits(capture.request.kinds()); !bits.ok()) {
    return Wrong(index, std::string(bits.status().message()));
  }
  const json labels = entry.value("labels", json::object());
  if (!labels.is_object()) return Wrong(index, "labels is no object");
  for (const auto& [key, value] : labels.items()) {
    if (!value.is_string()) return Wrong(index, "labels are strings");
    (*capture.request.mutable_labels())[key] = value.get<std::string>();
  }
  return capture;
}

}  // namespace

absl::StatusOr<std::vector<StaticCapture>> ParseStaticCaptures(const std::string& text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("captures") || !root["captures"].is_array()) {
    return absl::InvalidArgumentError(
        "the file of captures is no JSON object with an array \"captures\"");
  }
  std::vector<StaticCapture> captures;
  for (const json& entry : root["captures"]) {
    ASSIGN_OR_RETURN(StaticCapture capture, ParseEntry(entry, captures.size()));
    captures.push_back(std::move(capture));
  }
  return captures;
}

absl::StatusOr<std::vector<StaticCapture>> ReadStaticCaptures(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(base::StrCat("cannot read ", path));
  std::ostringstream text;
  text << file.rdbuf();
  return ParseStaticCaptures(text.str());
}

bool Matches(const StaticCapture& capture, const ProcessFacts& facts) {
  if (!capture.user.empty() && capture.user != facts.user) return false;
  if (facts.executable.find(capture.name) != std::string::npos) return true;
  return std::any_of(facts.command_line.begin(), facts.command_line.end(),
                     [&capture](const std::string& argument) {
                       return argument.find(capture.name) != std::string::npos;
                     });
}

}  // namespace nanolane::collector
