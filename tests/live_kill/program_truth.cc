#include "tests/live_kill/program_truth.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "libs/base/str_cat.h"

namespace nanolane::testing {
namespace {

using nlohmann::json;
using trace::EventKind;

std::map<EventKind, uint32_t> EventsOf(const std::string& call) {
  if (call == "launch") return {{EventKind::kKernel, 1}};
  if (call == "memcpy") return {{EventKind::kMemcpy, 1}};
  if (call == "memset") return {{EventKind::kMemset, 1}};
  if (call == "graph") {
    return {{EventKind::kKernel, kGraphKernels},
            {EventKind::kMemcpy, kGraphCopies},
            {EventKind::kMemset, kGraphSets}};
  }
  if (call == "stream-sync" || call == "device-sync") return {{EventKind::kSync, 1}};
  return {};
}

// As the collector shows a kernel's name.
std::string ShownName(const std::string& name) {
  static const std::map<std::string, std::string> kShown = {
      {"_Z3addPfS_i", "add(float*, float*, int)"}, {"_Z4gemmPf", "gemm(float*)"}};
  const auto shown = kShown.find(name);
  return shown == kShown.end() ? name : shown->second;
}

void AddRange(const std::string& call, const json& deed, std::vector<TrueRange>& ranges) {
  const auto before = deed["before"].get<int64_t>();
  const auto after = deed["after"].get<int64_t>();
  if (call == "nvtx-pop") {
    const auto open = std::find_if(ranges.rbegin(), ranges.rend(),
                                   [](const TrueRange& range) { return !range.ended; });
    if (open == ranges.rend()) return;
    open->end_before_ns = before;
    open->end_after_ns = after;
    open->ended = true;
    return;
  }
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const bool is_mark = call == "nvtx-mark";
  ranges.push_back({.begin_before_ns = before,
                    .begin_after_ns = after,
                    .end_before_ns = is_mark ? before : kNever,
                    .end_after_ns = is_mark ? after : kNever,
                    .ended = is_mark,
                    .name = deed["name"].get<std::string>()});
}

}  // namespace

std::string ProgramScript(const ProgramShape& shape) {
  return base::StrCat(
      "init\n"
      "graph g _Z5node1v memcpy memset _Z5node2v\n"
      "threads ",
      shape.threads,
      "\n"
      "  stream s\n"
      "  loop-until-file ",
      shape.stop_file,
      "\n"
      "    push step\n"
      "    launch s _Z3addPfS_i n=3 ns=3000 grid=7,1,1\n"
      "    launch s _Z4gemmPf ns=8000 api=driver\n"
      "    copy s h2d bytes=4096\n"
      "    set s bytes=256\n"
      "    launch-graph g s\n"
      "    mark here domain=net\n"
      "    sync s\n"
      "    pop\n"
      "    say .\n"
      "    sleep us=",
      shape.sleep_us,
      "\n"
      "  end\n"
      "end\n"
      "exit 0\n");
}

ProgramTruth ReadTruth(const std::string& path) {
  ProgramTruth truth;
  std::map<uint64_t, int64_t> last_of_thread;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    // The last line may have been cut short by a kill.
    const json deed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!deed.is_object() || deed["result"] != 0) continue;
    const auto call = deed["call"].get<std::string>();
    const auto thread = deed["thread"].get<uint64_t>();
    last_of_thread[thread] = deed["after"].get<int64_t>();
    if (call.starts_with("nvtx-")) {
      AddRange(call, deed, truth.ranges[thread]);
      continue;
    }
    TrueCall known = {.before_ns = deed["before"].get<int64_t>(),
                      .after_ns = deed["after"].get<int64_t>(),
                      .thread = thread,
                      .name = ShownName(deed["name"].get<std::string>()),
                      .events = EventsOf(call)};
    if (known.events.empty()) continue;
    truth.calls[deed["correlation"].get<uint64_t>()] = std::move(known);
  }
  for (const auto& [thread, last_ns] : last_of_thread) {
    truth.known_until_ns =
        truth.known_until_ns == 0 ? last_ns : std::min(truth.known_until_ns, last_ns);
  }
  return truth;
}

}  // namespace nanolane::testing
