// Import of Chrome traces: MB/s of inflated JSON and peak memory, beside two baselines of the same
// run: reading and inflating alone, and RapidJSON's SAX parser with a handler that does nothing.
// Each measurement runs in a process of its own, so that the peaks do not mix; medians of the
// repeats.
//
//   import_bench [FILE…]                    the data folder's traces when left out
//   import_bench --generate FILE --size 2G  writes a big synthetic trace
#include <rapidjson/reader.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine.h"
#include "bench/repeated_trace.h"
#include "bench/synthetic_trace.h"
#include "libs/ingest/kineto/byte_source.h"
#include "libs/ingest/kineto/kineto_import.h"

namespace nanolane::bench {
namespace {

using ingest::kineto::FileSource;

// What one run says; passed from the measuring process as bytes.
struct RunResult {
  double seconds = 0;
  uint64_t bytes = 0;   // inflated; 0: the run failed
  uint64_t events = 0;  // that an import gave
};

struct Measured {
  Samples seconds;
  Samples cpu_seconds;
  Samples peak_mb;
  RunResult last;
};

uint64_t Drain(FileSource& source) {
  uint64_t bytes = 0;
  std::string_view chunk;
  while (source.Next(chunk)) bytes += chunk.size();
  return bytes;
}

uint64_t InflateAlone(const std::string& path) {
  auto source = FileSource::Open(path);
  return source.ok() ? Drain(**source) : 0;
}

// RapidJSON's input stream over the same chunks as the importer's.
class ChunkStream {
 public:
  using Ch = char;

  explicit ChunkStream(FileSource& source) : source_(source) { Next(); }
  Ch Peek() const { return at_ == end_ ? '\0' : *at_; }
  Ch Take() {
    const Ch c = Peek();
    if (at_ != end_ && ++at_ == end_) Next();
    return c;
  }
  size_t Tell() const { return before_ + static_cast<size_t>(at_ - begin_); }
  // Of in-situ parsing, which is not used.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  size_t PutEnd(Ch*) { return 0; }

 private:
  void Next() {
    before_ += static_cast<size_t>(end_ - begin_);
    std::string_view chunk;
    begin_ = at_ = end_ = nullptr;
    if (!source_.Next(chunk)) return;
    begin_ = at_ = chunk.data();
    end_ = begin_ + chunk.size();
  }

  FileSource& source_;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  size_t before_ = 0;
};

template <unsigned flags>
uint64_t RapidJsonAlone(const std::string& path) {
  auto source = FileSource::Open(path);
  if (!source.ok()) return 0;
  ChunkStream stream(**source);
  rapidjson::Reader reader;
  rapidjson::BaseReaderHandler<> nothing;
  reader.Parse<flags>(stream, nothing);
  return reader.HasParseError() ? 0 : stream.Tell();
}

// Takes events and forgets them.
class NullSinks final : public ingest::SinkFactory {
 public:
  absl::StatusOr<std::optional<nanolane::trace::v1::SessionSummary>> FindEnded(
      const std::string&) override {
    return std::nullopt;
  }
  absl::StatusOr<std::unique_ptr<ingest::SessionSink>> Open(
      const nanolane::trace::v1::Session&) override {
    return std::make_unique<Sink>();
  }

 private:
  class Sink final : public ingest::SessionSink {
   public:
    trace::DictionaryBuilder& dictionary() override { return dictionary_; }
    absl::Status Add(trace::LaneId, const trace::Event&) override { return absl::OkStatus(); }
    absl::Status Finish(const nanolane::trace::v1::Session&) override { return absl::OkStatus(); }

   private:
    trace::DictionaryBuilder dictionary_;
  };
};

uint64_t Import(const std::string& path) {
  NullSinks sinks;
  const auto sessions = ingest::ImportKineto(path, sinks, {});
  if (!sessions.ok()) {
    std::fprintf(stderr, "%s\n", std::string(sessions.status().message()).c_str());
    return 0;
  }
  uint64_t events = 0;
  for (const ingest::ImportedSession& session : *sessions) events += session.events;
  return events;
}

// Runs `work` in a process of its own.
void Measure(const std::function<RunResult()>& work, Measured& measured) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const Stopwatch watch;
    RunResult result = work();
    result.seconds = watch.Seconds();
    const bool told = write(ends[1], &result, sizeof(result)) == sizeof(result);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  RunResult result;
  if (read(ends[0], &result, sizeof(result)) != sizeof(result)) result = {};
  close(ends[0]);
  struct rusage usage = {};
  int status = 0;
  wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  measured.seconds.Add(result.seconds);
  measured.cpu_seconds.Add(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  measured.peak_mb.Add(static_cast<double>(usage.ru_maxrss) / 1'024);
  measured.last = result;
}

void Print(const char* what, const Measured& measured, uint64_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  if (measured.last.bytes == 0) {
    std::printf("  %-22s failed\n", what);
    return;
  }
  std::printf("  %-22s %8.0f MB/s (%.0f..%.0f)  %6.2f s  cpu %6.2f s  peak %4.0f MB", what,
              mb / measured.seconds.Median(), mb / measured.seconds.Highest(),
              mb / measured.seconds.Lowest(), measured.seconds.Median(),
              measured.cpu_seconds.Median(), measured.peak_mb.Highest());
  if (measured.last.events > 0) {
    std::printf("  %llu events", static_cast<unsigned long long>(measured.last.events));
  }
  std::printf("\n");
}

void BenchFile(const std::string& path) {
  Measured inflate;
  Measured recursive;
  Measured iterative;
  Measured import;
  const uint64_t bytes = InflateAlone(path);
  const int repeats = bytes > 1'000'000'000 ? 3 : 7;
  std::printf("%s: %.1f MB of JSON, %.1f MB stored\n",
              std::filesystem::path(path).filename().c_str(), static_cast<double>(bytes) / 1e6,
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  constexpr unsigned kIterative = rapidjson::kParseIterativeFlag;
  for (int i = 0; i < repeats; ++i) {
    Measure([&] { return RunResult{.bytes = InflateAlone(path)}; }, inflate);
    Measure([&] { return RunResult{.bytes = RapidJsonAlone<0>(path)}; }, recursive);
    Measure([&] { return RunResult{.bytes = RapidJsonAlone<kIterative>(path)}; }, iterative);
    Measure(
        [&] {
          const uint64_t events = Import(path);
          return RunResult{.bytes = events > 0 ? bytes : 0, .events = events};
        },
        import);
  }
  Print("read and inflate", inflate, bytes);
  Print("RapidJSON, recursive", recursive, bytes);
  Print("RapidJSON, iterative", iterative, bytes);
  Print("import, null sink", import, bytes);
}

uint64_t ParseSize(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  double unit = 1;
  if (*end == 'K') unit = 1e3;
  if (*end == 'M') unit = 1e6;
  if (*end == 'G') unit = 1e9;
  return number > 0 ? static_cast<uint64_t>(number * unit) : 0;
}

int Generate(const std::vector<std::string>& args) {
  if (args.size() != 4 || args[2] != "--size" || ParseSize(args[3]) == 0) {
    std::fprintf(stderr, "usage: import_bench --generate FILE --size 2G\n");
    return 2;
  }
  const absl::StatusOr<uint64_t> steps = WriteSyntheticTrace(args[1], ParseSize(args[3]));
  if (!steps.ok()) {
    std::fprintf(stderr, "%s\n", std::string(steps.status().message()).c_str());
    return 1;
  }
  std::printf("%s: %llu steps\n", args[1].c_str(), static_cast<unsigned long long>(*steps));
  return 0;
}

int Main(const std::vector<std::string>& args) {
  if (!args.empty() && args[0] == "--generate") return Generate(args);
  std::vector<std::string> files = args;
  if (files.empty()) {
    for (const char* name : {"embed_stack.pt.trace.json.gz", "train_gpt.pt.trace.json.gz",
                             "public/hta_df_index_resolver.json.gz"}) {
      if (std::filesystem::exists(DataFile(name))) files.push_back(DataFile(name));
    }
  }
  PrintMachine();
  for (const std::string& file : files) BenchFile(file);
  return 0;
}

}  // namespace
}  // namespace nanolane::bench

int main(int argc, char** argv) {
  // Lines appear as they come, and are not written twice by the measuring processes.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  return nanolane::bench::Main({argv + 1, argv + argc});
}
