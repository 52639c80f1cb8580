// store_bench: bytes on disk, append and stream rates of a real server process, over gRPC, with the
// client in this one. Each rate stands beside what bounds it in the same run.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/repeated_trace.h"
#include "bench/server_bench.h"
#include "clients/cli/chrome/chrome_trace_writer.h"
#include "libs/ingest/session_writer.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/wire.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "tests/support/server_process.h"

namespace {

using nanolane::bench::Fail;
using nanolane::bench::Samples;
using nanolane::bench::SessionId;
using nanolane::bench::Stopwatch;
using nanolane::bench::Workload;
using nanolane::testing::ServerProcess;
namespace trace = nanolane::trace;
namespace store_v1 = nanolane::store::v1;
namespace query_v1 = nanolane::query::v1;

constexpr int kRounds = 7;

nanolane::trace::v1::Session SessionNamed(int number) {
  nanolane::trace::v1::Session session;
  session.set_session_id(SessionId(number));
  session.set_executable("bench");
  return session;
}

// Copies the workload's dictionary into a writer's, id by id, by interning in id order.
void CopyDictionary(const trace::DictionaryDelta& whole, trace::DictionaryBuilder& to) {
  for (const std::string& text : whole.strings) to.Intern(text);
  for (const trace::Frame& frame : whole.frames) to.Intern(frame);
  for (const trace::SymbolEntry& entry : whole.symbols) to.SetSymbol(entry.frame, entry.symbol);
  for (const trace::StackNode& node : whole.stacks) to.Intern(node);
  for (const trace::Op& op : whole.ops) to.Intern(op);
  std::vector<trace::LaneEntry> lanes = whole.lanes;
  std::sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const trace::LaneEntry& entry : lanes) to.Intern(entry.lane);
}

double AppendWithEncoding(const Workload& workload, const trace::DictionaryDelta& dictionary,
                          const std::shared_ptr<grpc::Channel>& channel, int number) {
  nanolane::ingest::StoreSinkFactory sinks(channel);
  auto sink = sinks.Open(SessionNamed(number));
  Fail(sink.status());
  CopyDictionary(dictionary, (*sink)->dictionary());
  const Stopwatch watch;
  for (const auto& [lane, events] : workload.lanes) {
    for (const trace::Event& event : events) Fail((*sink)->Add(lane, event));
  }
  Fail((*sink)->Finish(SessionNamed(number)));
  return watch.Seconds();
}

struct ReadyBlocks {
  std::vector<std::string> blocks;
  size_t bytes = 0;
};

ReadyBlocks Encode(const Workload& workload, size_t block_events) {
  ReadyBlocks ready;
  for (const auto& [lane, events] : workload.lanes) {
    for (size_t from = 0; from < events.size(); from += block_events) {
      trace::EventColumns columns;
      for (size_t i = from; i < std::min(events.size(), from + block_events); ++i)
        columns.Add(events[i]);
      ready.blocks.push_back(*trace::EncodeBlock(columns, {.lane = lane, .needs = {}}));
      ready.bytes += ready.blocks.back().size();
    }
  }
  return ready;
}

double AppendReady(const ReadyBlocks& ready, const trace::DictionaryDelta& dictionary,
                   store_v1::StoreService::Stub& stub, int number) {
  constexpr size_t kBlocksPerAppend = 8;
  std::vector<store_v1::AppendRequest> requests(1);
  *requests[0].mutable_session() = SessionNamed(number);
  requests[0].set_epoch(1);
  trace::ToProto(dictionary, *requests[0].mutable_dictionary());
  for (size_t i = 0; i < ready.blocks.size(); ++i) {
    if (i % kBlocksPerAppend == 0) requests.emplace_back();
    requests.back().add_blocks(ready.blocks[i]);
  }
  grpc::ClientContext context;
  const auto stream = stub.Append(&context);
  const Stopwatch watch;
  std::thread reader([&] {
    store_v1::AppendResponse response;
    while (stream->Read(&response) && response.acknowledged_sequence() < requests.size()) {
    }
  });
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].set_sequence(i + 1);
    if (!stream->Write(requests[i])) break;
  }
  reader.join();
  const double seconds = watch.Seconds();
  stream->WritesDone();
  Fail(nanolane::rpc::FromGrpc(stream->Finish()));
  return seconds;
}

// What the disk alone allows: the same bytes into one file, synced as often as appends are.
double WriteFileSynced(const ReadyBlocks& ready, const std::string& folder) {
  const std::string path = folder + "/plain";
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const Stopwatch watch;
  for (size_t i = 0; i < ready.blocks.size(); ++i) {
    if (::write(file, ready.blocks[i].data(), ready.blocks[i].size()) < 0) break;
    if (i % 8 == 7) ::fdatasync(file);
  }
  ::fdatasync(file);
  const double seconds = watch.Seconds();
  ::close(file);
  std::filesystem::remove(path);
  return seconds;
}

struct Streamed {
  double first_chunk_seconds = 0;
  double seconds = 0;
  size_t events = 0;
};

Streamed Stream(query_v1::QueryService::Stub& stub, int number) {
  query_v1::StreamTimelineRequest request;
  request.mutable_scope()->add_session_ids(SessionId(number));
  request.set_max_block_version(trace::kBlockVersion);
  Streamed result;
  grpc::ClientContext context;
  const Stopwatch watch;
  const auto stream = stub.StreamTimeline(&context, request);
  query_v1::StreamTimelineResponse message;
  trace::Dictionary dictionary;
  while (stream->Read(&message)) {
    if (message.has_dictionary()) {
      Fail(dictionary.Apply(trace::FromProto(message.dictionary().delta())));
    }
    for (const query_v1::Block& block : message.blocks().blocks()) {
      trace::EventColumns events;
      Fail(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), events));
      result.events += events.size();
    }
    if (result.first_chunk_seconds == 0 && message.has_blocks())
      result.first_chunk_seconds = watch.Seconds();
  }
  result.seconds = watch.Seconds();
  Fail(nanolane::rpc::FromGrpc(stream->Finish()));
  return result;
}

// Size of the same events as gzip'd Chrome JSON, as nanolane export writes it.
size_t GzippedChromeJson(const Workload& workload, size_t& plain_bytes) {
  std::ostringstream text;
  nanolane::trace::v1::SessionSummary summary;
  nanolane::cli::ChromeTraceWriter writer(text, summary);
  for (const auto& [lane_id, events] : workload.lanes) {
    trace::EventColumns columns;
    for (const trace::Event& event : events) columns.Add(event);
    writer.WriteEvents(*workload.dictionary.tables().LaneOf(lane_id), 1, columns,
                       workload.dictionary.tables());
  }
  writer.Finish();
  const std::string json = text.str();
  plain_bytes = json.size();
  std::string packed(::compressBound(json.size()), '\0');
  uLongf size = packed.size();
  ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
              reinterpret_cast<const Bytef*>(json.data()), json.size(), 6);
  return size;
}

// Everything that the store keeps, without its log of messages.
size_t BytesOnDisk(const std::string& folder) {
  size_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.rfind("LOG", 0) != 0) bytes += entry.file_size();
  }
  return bytes;
}

void MeasureSize(const Workload& workload, const trace::DictionaryDelta& dictionary,
                 const std::string& binary) {
  auto server = ServerProcess::Start(binary);
  Fail(server.status());
  const auto channel = nanolane::rpc::Connect(server->address());
  Fail(channel.status());
  AppendWithEncoding(workload, dictionary, *channel, 1);
  // A restart moves what the write-ahead log holds into its place.
  Fail(server->Restart(SIGTERM));
  server->Stop(SIGTERM);
  const auto events = static_cast<double>(workload.events);
  const size_t disk = BytesOnDisk(server->folder() + "/data");
  size_t json = 0;
  const size_t gzip = GzippedChromeJson(workload, json);
  std::printf("on disk, all columns and dictionaries: %.3f bytes/event (%.1f MB)\n",
              static_cast<double>(disk) / events, static_cast<double>(disk) / 1e6);
  std::printf(
      "gzip -6 of the Chrome JSON of the same events: %.3f bytes/event, %.1f times as much (plain "
      "JSON %.1f)\n",
      static_cast<double>(gzip) / events, static_cast<double>(gzip) / static_cast<double>(disk),
      static_cast<double>(json) / events);
}

void PrintRate(const char* what, const Samples& seconds, size_t events) {
  const auto rate = [&](double s) { return static_cast<double>(events) / s / 1e6; };
  std::printf("%-52s %6.2f M events/s  (%.2f .. %.2f)\n", what, rate(seconds.Median()),
              rate(seconds.Highest()), rate(seconds.Lowest()));
}

}  // namespace

int main() {
  nanolane::bench::PrintMachine();
  const auto workload =
      nanolane::bench::RepeatTrace(nanolane::bench::DataFile("train_gpt.pt.trace.json.gz"), {});
  Fail(workload.status());
  const trace::DictionaryDelta dictionary =
      nanolane::bench::WholeDictionary(workload->dictionary.tables());
  const std::string binary = nanolane::testing::SiblingBinary("nanolane");
  std::printf(
      "%zu events of train_gpt, repeated, jittered with a sigma of 100 ns; medians of %d (slowest "
      ".. fastest)\n",
      workload->events, kRounds);
  MeasureSize(*workload, dictionary, binary);

  auto server = ServerProcess::Start(binary);
  Fail(server.status());
  const auto channel = nanolane::rpc::Connect(server->address());
  Fail(channel.status());
  const auto store = store_v1::StoreService::NewStub(*channel);
  const auto query = query_v1::QueryService::NewStub(*channel);
  const ReadyBlocks live = Encode(*workload, trace::kLiveBlockEvents);
  const ReadyBlocks large = Encode(*workload, 16'384);
  Samples encoded;
  Samples ready_live;
  Samples ready_large;
  Samples file;
  int number = 0;
  for (int round = 0; round < kRounds; ++round) {
    encoded.Add(AppendWithEncoding(*workload, dictionary, *channel, ++number));
    ready_live.Add(AppendReady(live, dictionary, *store, ++number));
    ready_large.Add(AppendReady(large, dictionary, *store, ++number));
    file.Add(WriteFileSynced(live, server->folder()));
  }
  PrintRate("append over gRPC, synced, encoding included", encoded, workload->events);
  PrintRate("append over gRPC, synced, ready blocks of 4,096", ready_live, workload->events);
  PrintRate("append over gRPC, synced, ready blocks of 16,384", ready_large, workload->events);
  PrintRate("the same bytes to a plain file, fdatasync every 8", file, workload->events);

  Samples first;
  Samples whole;
  size_t events = 0;
  Stream(*query, 1);
  for (int round = 0; round < kRounds; ++round) {
    const Streamed streamed = Stream(*query, 1);
    first.Add(streamed.first_chunk_seconds * 1e3);
    whole.Add(streamed.seconds * 1e3);
    events = streamed.events;
  }
  std::printf(
      "stream %zu events to a client that decodes them, warm:  %.1f ms (%.1f .. %.1f), first chunk "
      "%.1f ms (%.1f .. %.1f)\n",
      events, whole.Median(), whole.Lowest(), whole.Highest(), first.Median(), first.Lowest(),
      first.Highest());
  const Stopwatch decode;
  for (const std::string& block : large.blocks) {
    trace::EventColumns out;
    Fail(trace::DecodeBlock(block, trace::ColumnSet::All(), out));
  }
  std::printf("decoding alone, from memory: %.1f ms\n", decode.Seconds() * 1e3);
  return 0;
}
