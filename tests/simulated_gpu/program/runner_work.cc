// Commands that give the device work.
#include <absl/strings/str_split.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "libs/base/status_macros.h"
#include "tests/simulated_gpu/program/runner.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {
namespace {

bool HasWord(const Command& command, std::string_view word) {
  return std::find(command.words.begin(), command.words.end(), word) != command.words.end();
}

absl::Status ReadDim(const std::string* text, Dim3& dim) {
  if (text == nullptr) return absl::OkStatus();
  const std::vector<std::string> parts = absl::StrSplit(*text, ',');
  uint32_t* const to[] = {&dim.x, &dim.y, &dim.z};
  for (size_t i = 0; i < parts.size() && i < 3; ++i) {
    int64_t number = 0;
    RETURN_IF_ERROR(ReadNumber(&parts[i], number));
    *to[i] = static_cast<uint32_t>(number);
  }
  return absl::OkStatus();
}

absl::Status ReadLaunch(const Command& command, LaunchOptions& options) {
  RETURN_IF_ERROR(ReadNumber(command.Option("ns"), options.duration_ns));
  int64_t fails_with = kSuccess;
  RETURN_IF_ERROR(ReadNumber(command.Option("fails"), fails_with));
  options.fails_with = static_cast<int>(fails_with);
  int64_t shared_bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("shared"), shared_bytes));
  options.shared_bytes = static_cast<uint32_t>(shared_bytes);
  RETURN_IF_ERROR(ReadDim(command.Option("grid"), options.grid));
  RETURN_IF_ERROR(ReadDim(command.Option("block"), options.block));
  const std::string* api = command.Option("api");
  if (api == nullptr || *api == "runtime") return absl::OkStatus();
  if (*api == "runtime-exc") options.api = LaunchApi::kRuntimeExC;
  if (*api == "driver") options.api = LaunchApi::kDriver;
  if (*api == "driver-ex") options.api = LaunchApi::kDriverEx;
  if (options.api != LaunchApi::kRuntime) return absl::OkStatus();
  return absl::InvalidArgumentError("api is runtime, runtime-exc, driver or driver-ex");
}

Deed DeedOn(const char* call, const Stream& stream) {
  Deed deed;
  deed.call = call;
  deed.device = static_cast<int32_t>(DeviceOf(stream));
  deed.stream = StreamId(stream);
  return deed;
}

GraphNode NodeNamed(const std::string& name) {
  if (name == "memcpy") return {.type = GraphNode::Type::kMemcpy, .bytes = 4096};
  if (name == "memset") return {.type = GraphNode::Type::kMemset, .bytes = 4096};
  return {.kernel = &KernelNamed(name)};
}

struct Storm {
  const Kernel& kernel;
  const char* name;
  uint64_t launches;
  LaunchOptions options;
  bool is_summed;
};

// One thread's part, on a stream of its own.
void RunStormThread(const Storm& storm, Truth& truth) {
  Stream& stream = CreateStream();
  Deed deed = DeedOn("launch", stream);
  deed.name = storm.name;
  Deed sum = deed;
  sum.count = storm.launches;
  sum.before_ns = MonotonicNow();
  for (uint64_t i = 0; i < storm.launches; ++i) {
    if (storm.is_summed) {
      const Call call = Launch(stream, storm.kernel, storm.options);
      if (i == 0) sum.correlation = call.correlation;
      continue;
    }
    deed.before_ns = MonotonicNow();
    const Call call = Launch(stream, storm.kernel, storm.options);
    deed.after_ns = MonotonicNow();
    deed.correlation = call.correlation;
    deed.result = call.result;
    truth.Add(deed);
  }
  sum.after_ns = MonotonicNow();
  if (storm.is_summed) truth.Add(sum);
  truth.Flush();
}

}  // namespace

absl::Status Runner::RunInit(const Command& command) {
  return Init() == kSuccess ? absl::OkStatus() : Wrong(command, "failed");
}

absl::Status Runner::RunDevice(const Command& command) {
  int64_t device = 0;
  RETURN_IF_ERROR(ReadNumber(&WordAt(command, 0), device));
  if (device < 0 || device >= DeviceCount()) return Wrong(command, "names no device");
  SetDevice(static_cast<int>(device));
  return absl::OkStatus();
}

absl::Status Runner::RunStream(const Command& command) {
  names_.streams[WordAt(command, 0)] = &CreateStream();
  return absl::OkStatus();
}

absl::Status Runner::RunLaunch(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 0));
  if (stream == nullptr) return Wrong(command, "names no stream");
  LaunchOptions options;
  RETURN_IF_ERROR(ReadLaunch(command, options));
  int64_t count = 1;
  RETURN_IF_ERROR(ReadNumber(command.Option("n"), count));
  const Kernel& kernel = KernelNamed(WordAt(command, 1));
  Deed deed = DeedOn("launch", *stream);
  deed.name = Lasting(WordAt(command, 1));
  Do(deed, static_cast<uint64_t>(count), [&] { return Launch(*stream, kernel, options); });
  return absl::OkStatus();
}

absl::Status Runner::RunStorm(const Command& command) {
  int64_t launches = 0;
  RETURN_IF_ERROR(ReadNumber(&WordAt(command, 0), launches));
  int64_t threads = 1;
  RETURN_IF_ERROR(ReadNumber(command.Option("threads"), threads));
  if (launches <= 0 || threads <= 0) return Wrong(command, "needs launches and threads");
  LaunchOptions options;
  options.duration_ns = 0;
  RETURN_IF_ERROR(ReadLaunch(command, options));
  const std::string* name = command.Option("kernel");
  const std::string kernel = name == nullptr ? "_Z5stormv" : *name;
  const Storm storm{KernelNamed(kernel), Lasting(kernel), static_cast<uint64_t>(launches / threads),
                    options, HasWord(command, "sum")};
  std::vector<std::thread> running;
  for (int64_t i = 0; i < threads; ++i) {
    running.emplace_back([&] { RunStormThread(storm, truth_); });
  }
  for (std::thread& thread : running) thread.join();
  return absl::OkStatus();
}

absl::Status Runner::RunCopy(const Command& command) {
  static const std::map<std::string_view, CopyKind> kKinds = {
      {"h2d", CopyKind::kHostToDevice},
      {"d2h", CopyKind::kDeviceToHost},
      {"d2d", CopyKind::kDeviceToDevice},
      {"h2h", CopyKind::kHostToHost},
  };
  Stream* stream = StreamNamed(WordAt(command, 0));
  const auto kind = kKinds.find(WordAt(command, 1));
  if (stream == nullptr || kind == kKinds.end()) return Wrong(command, "needs STREAM and KIND");
  int64_t bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("bytes"), bytes));
  int64_t count = 1;
  RETURN_IF_ERROR(ReadNumber(command.Option("n"), count));
  CopyOptions options;
  RETURN_IF_ERROR(ReadNumber(command.Option("ns"), options.duration_ns));
  options.kind = kind->second;
  options.bytes = static_cast<uint64_t>(bytes);
  options.is_async = !HasWord(command, "blocking");
  options.is_pinned = !HasWord(command, "pageable");
  Deed deed = DeedOn("memcpy", *stream);
  deed.name = Lasting(WordAt(command, 1));
  deed.bytes = options.bytes;
  Do(deed, static_cast<uint64_t>(count), [&] { return Memcpy(*stream, options); });
  return absl::OkStatus();
}

absl::Status Runner::RunPeer(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 0));
  if (stream == nullptr) return Wrong(command, "names no stream");
  int64_t device = 0;
  RETURN_IF_ERROR(ReadNumber(&WordAt(command, 1), device));
  int64_t bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("bytes"), bytes));
  Deed deed = DeedOn("memcpy", *stream);
  deed.name = "p2p";
  deed.bytes = static_cast<uint64_t>(bytes);
  Do(deed, 1, [&] { return MemcpyPeer(*stream, static_cast<int>(device), deed.bytes); });
  return absl::OkStatus();
}

absl::Status Runner::RunSet(const Command& command) {
  Stream* stream = StreamNamed(WordAt(command, 0));
  if (stream == nullptr) return Wrong(command, "names no stream");
  int64_t bytes = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("bytes"), bytes));
  int64_t value = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("value"), value));
  SetOptions options;
  options.value = static_cast<uint8_t>(value);
  options.bytes = static_cast<uint64_t>(bytes);
  options.is_async = !HasWord(command, "blocking");
  Deed deed = DeedOn("memset", *stream);
  deed.bytes = options.bytes;
  Do(deed, 1, [&] { return Memset(*stream, options); });
  return absl::OkStatus();
}

absl::Status Runner::RunGraph(const Command& command) {
  if (command.words.size() < 2) return Wrong(command, "needs a name and nodes");
  std::vector<GraphNode> nodes;
  for (size_t i = 1; i < command.words.size(); ++i) nodes.push_back(NodeNamed(command.words[i]));
  names_.graphs[command.words[0]] = &CreateGraph(std::move(nodes));
  return absl::OkStatus();
}

absl::Status Runner::RunGraphLaunch(const Command& command) {
  const auto graph = names_.graphs.find(WordAt(command, 0));
  Stream* stream = StreamNamed(WordAt(command, 1));
  if (graph == names_.graphs.end() || stream == nullptr) {
    return Wrong(command, "needs GRAPH and STREAM");
  }
  int64_t count = 1;
  RETURN_IF_ERROR(ReadNumber(command.Option("n"), count));
  Deed deed = DeedOn("graph", *stream);
  deed.name = Lasting(graph->first);
  Do(deed, static_cast<uint64_t>(count), [&] { return GraphLaunch(*graph->second, *stream); });
  return absl::OkStatus();
}

}  // namespace nanolane::sim
