#include "clients/cli/capture/processes.h"

#include <algorithm>
#include <functional>

#include "absl/strings/numbers.h"
#include "libs/base/str_cat.h"

namespace nanolane::cli {
namespace {

using nanolane::collector::v1::Process;
using nanolane::trace::v1::Gpu;
namespace collector_v1 = nanolane::collector::v1;

// As many digits of a container's id as container tools show.
constexpr size_t kContainerDigits = 12;

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<Process> Fitting(const std::vector<Process>& processes,
                             const std::function<bool(const Process&)>& fits) {
  std::vector<Process> fitting;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(fitting), fits);
  return fitting;
}

// A line for each, to stand below a message.
std::string Listed(const std::vector<Process>& processes) {
  std::string lines;
  for (const Process& process : processes) {
    lines += base::StrCat("\n  ", process.pid(), "  ", CommandText(process));
  }
  return lines;
}

bool ContainsText(const Process& process, std::string_view text) {
  std::string line;
  for (const std::string& argument : process.command_line()) line += argument + " ";
  return line.find(text) != std::string::npos;
}

std::vector<Process> Named(const std::vector<Process>& processes, std::string_view text) {
  uint64_t pid = 0;
  if (absl::SimpleAtoi(base::ToAbsl(text), &pid)) {
    return Fitting(processes, [&](const Process& process) { return process.pid() == pid; });
  }
  auto exact = Fitting(
      processes, [&](const Process& process) { return BaseName(process.executable()) == text; });
  if (!exact.empty()) return exact;
  return Fitting(processes, [&](const Process& process) { return ContainsText(process, text); });
}

// "NVIDIA H200" → "H200".
std::string ShortGpuName(const std::string& name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return name.starts_with(kMaker) ? name.substr(kMaker.size()) : name;
}

}  // namespace

absl::StatusOr<Process> FindProcess(const std::vector<Process>& processes, std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("a process needs a pid or a name");
  const std::vector<Process> found = Named(processes, text);
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        base::StrCat("several processes fit \"", text, "\"; name one by its pid:", Listed(found)));
  }
  if (processes.empty()) {
    return absl::NotFoundError(base::StrCat("no process can be profiled yet; ", kHowToStart));
  }
  return absl::NotFoundError(base::StrCat("no process that can be profiled fits \"", text, "\"; ",
                                          kHowToStart, ", or name one of:", Listed(processes)));
}

std::string CommandText(const Process& process) {
  std::string text;
  for (const std::string& argument : process.command_line()) {
    text += text.empty() ? BaseName(argument) : " " + argument;
  }
  if (text.empty()) text = BaseName(process.executable());
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text.empty() ? "-" : text;
}

std::string GpusText(const Process& process) {
  std::vector<Gpu> gpus(process.gpus().begin(), process.gpus().end());
  std::sort(gpus.begin(), gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.index() < b.index(); });
  std::string text;
  for (size_t first = 0; first < gpus.size();) {
    size_t end = first + 1;
    while (end < gpus.size() && gpus[end].name() == gpus[first].name() &&
           gpus[end].index() == gpus[end - 1].index() + 1) {
      ++end;
    }
    if (!text.empty()) text += ", ";
    text += std::to_string(gpus[first].index());
    if (end - first > 1) text += "–" + std::to_string(gpus[end - 1].index());
    const std::string name = ShortGpuName(gpus[first].name());
    if (!name.empty()) text += " " + name;
    first = end;
  }
  return text.empty() ? "-" : text;
}

std::string StateName(const Process& process) {
  switch (process.state()) {
    case collector_v1::PROCESS_STATE_READY: return "ready";
    case collector_v1::PROCESS_STATE_CAPTURING: return "capturing";
    case collector_v1::PROCESS_STATE_REFUSED: return "refused";
    default: return "unknown";
  }
}

std::string StateText(const Process& process) {
  const bool refused = process.state() == collector_v1::PROCESS_STATE_REFUSED;
  const std::string why = refused && !process.refusal().empty() ? ": " + process.refusal() : "";
  return StateName(process) + why;
}

std::string ContainerText(const Process& process) {
  return process.container_id().empty() ? "-" : process.container_id().substr(0, kContainerDigits);
}

}  // namespace nanolane::cli
