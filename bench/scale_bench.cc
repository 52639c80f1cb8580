// scale_bench: a store with a hundred million events in 200 sessions and a session of as many more,
// behind a real server process: append, seal, memory, bytes written, then cold and warm answers.
//
//   scale_bench [SCALE]    SCALE: share of the full size, 1 by default
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/repeated_trace.h"
#include "bench/server_bench.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
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

constexpr int kSessions = 200;
constexpr int kBigLanes = 20;
constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
constexpr int64_t kDayStartNs = int64_t{1'700'000'000} * 1'000'000'000;

constexpr int kBigSession = 1'000'000;
constexpr int kLiveSession = 2'000'000;

// The device work of a training step, repeated, as blocks that a live writer makes.
struct Template {
  Workload workload;
  nanolane::trace::v1::DictionaryDelta dictionary;  // with kBigLanes streams as lanes 1, 2, …
  std::vector<trace::Event> events;                 // of the busiest lane
  trace::DictionaryNeeds needs;
  int64_t stride_ns = 0;
};

Template MakeTemplate(size_t events) {
  Template result;
  auto workload = nanolane::bench::RepeatTrace(
      nanolane::bench::DataFile("train_gpt.pt.trace.json.gz"), {.events = events});
  Fail(workload.status());
  result.workload = *std::move(workload);
  for (const auto& [lane, of_lane] : result.workload.lanes) {
    if (of_lane.size() > result.events.size()) result.events = of_lane;
  }
  const int64_t first_ns = result.events.front().start_ns;
  for (trace::Event& event : result.events) {
    event.start_ns -= first_ns;
    if (event.launch_start_ns != trace::kNoTime) event.launch_start_ns -= first_ns;
  }
  result.stride_ns = result.events.back().start_ns + result.events.back().duration_ns -
                     result.events.front().start_ns + 1'000;
  trace::DictionaryDelta delta =
      nanolane::bench::WholeDictionary(result.workload.dictionary.tables());
  result.needs = {.strings = static_cast<uint32_t>(delta.strings.size()),
                  .frames = static_cast<uint32_t>(delta.frames.size())};
  delta.lanes.clear();
  for (uint32_t lane = 1; lane <= kBigLanes; ++lane) {
    delta.lanes.push_back(
        {.id = lane, .lane = {.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = lane}});
  }
  trace::ToProto(delta, result.dictionary);
  return result;
}

// Blocks of `count` events from the template's `from` on, moved in time.
std::vector<std::string> Blocks(const Template& of, trace::LaneId lane, size_t count,
                                int64_t shift_ns, size_t block_events = trace::kLiveBlockEvents) {
  std::vector<std::string> blocks;
  for (size_t from = 0; from < count; from += block_events) {
    trace::EventColumns columns;
    for (size_t i = from; i < std::min(count, from + block_events); ++i) {
      trace::Event event = of.events[i % of.events.size()];
      const auto round = static_cast<int64_t>(i / of.events.size());
      event.start_ns += shift_ns + round * of.stride_ns;
      if (event.launch_start_ns != trace::kNoTime) {
        event.launch_start_ns += shift_ns + round * of.stride_ns;
      }
      columns.Add(event);
    }
    auto block = trace::EncodeBlock(columns, {.lane = lane, .needs = of.needs});
    Fail(block.status());
    blocks.push_back(*std::move(block));
  }
  return blocks;
}

// One append stream that is never more than a few requests ahead of its acknowledgements.
class Appender {
 public:
  Appender(store_v1::StoreService::Stub& store, const Template& of, int session,
           int64_t unix_offset_ns)
      : stream_(store.Append(&context_)) {
    session_.set_session_id(SessionId(session));
    session_.set_executable("bench");
    session_.mutable_clock()->set_unix_offset_known(true);
    session_.mutable_clock()->set_unix_offset_ns(unix_offset_ns);
    store_v1::AppendRequest request;
    *request.mutable_session() = session_;
    request.set_epoch(1);
    *request.mutable_dictionary() = of.dictionary;
    Send(request);
  }

  void Append(const std::vector<std::string>& blocks) {
    for (size_t from = 0; from < blocks.size(); from += 8) {
      store_v1::AppendRequest request;
      for (size_t i = from; i < std::min(blocks.size(), from + 8); ++i) {
        request.add_blocks(blocks[i]);
      }
      Send(request);
    }
  }

  void End() {
    session_.set_ended(true);
    store_v1::AppendRequest request;
    *request.mutable_session() = session_;
    Send(request);
    while (acknowledged_ < sequence_) Read();
    stream_->WritesDone();
    store_v1::AppendResponse response;
    while (stream_->Read(&response)) {
    }
    Fail(nanolane::rpc::FromGrpc(stream_->Finish()));
  }

 private:
  void Send(store_v1::AppendRequest& request) {
    request.set_sequence(++sequence_);
    if (!stream_->Write(request)) Fail(nanolane::rpc::FromGrpc(stream_->Finish()));
    while (sequence_ - acknowledged_ > 16) Read();
  }
  void Read() {
    store_v1::AppendResponse response;
    if (!stream_->Read(&response)) Fail(nanolane::rpc::FromGrpc(stream_->Finish()));
    acknowledged_ = response.acknowledged_sequence();
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<store_v1::AppendRequest, store_v1::AppendResponse>>
      stream_;
  nanolane::trace::v1::Session session_;
  uint64_t sequence_ = 0;
  uint64_t acknowledged_ = 0;
};

// A number of a file of /proc: "VmHWM:  123 kB".
double ProcNumber(pid_t pid, const char* file, const std::string& key) {
  std::ifstream in(absl::StrFormat("/proc/%d/%s", pid, file));
  for (std::string word; in >> word;) {
    double value = 0;
    if (word == key + ":" && in >> value) return value;
  }
  return 0;
}

uint64_t BytesIn(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file(gone)) bytes += entry.file_size(gone);
  }
  return bytes;
}

struct Clients {
  explicit Clients(const std::string& address) {
    auto channel = nanolane::rpc::Connect(address);
    Fail(channel.status());
    store = store_v1::StoreService::NewStub(*channel);
    query = query_v1::QueryService::NewStub(*channel);
  }
  std::unique_ptr<store_v1::StoreService::Stub> store;
  std::unique_ptr<query_v1::QueryService::Stub> query;
};

uint64_t Unsealed(Clients& clients) {
  uint64_t unsealed = 0;
  store_v1::ListSessionsRequest request;
  request.set_page_size(1'000);
  grpc::ClientContext context;
  store_v1::ListSessionsResponse response;
  Fail(nanolane::rpc::FromGrpc(clients.store->ListSessions(&context, request, &response)));
  for (const auto& session : response.sessions()) unsealed += session.unsealed_events();
  return unsealed;
}

double WaitSealed(Clients& clients) {
  const Stopwatch watch;
  while (Unsealed(clients) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return watch.Seconds();
}

void PrintProcess(const char* when, const ServerProcess& server, double block_bytes) {
  std::printf(
      "  %-28s resident %4.0f MB (peak %4.0f MB), written %.2f GB: %.2f times the appended blocks, "
      "on disk %.2f GB\n",
      when, ProcNumber(server.pid(), "status", "VmRSS") / 1024,
      ProcNumber(server.pid(), "status", "VmHWM") / 1024,
      ProcNumber(server.pid(), "io", "write_bytes") / 1e9,
      ProcNumber(server.pid(), "io", "write_bytes") / block_bytes,
      static_cast<double>(BytesIn(server.folder() + "/data")) / 1e9);
  std::fflush(stdout);
}

double FillSessions(Clients& clients, const Template& of, size_t events_per_session,
                    double& block_bytes) {
  const std::vector<std::string> blocks = Blocks(of, 1, events_per_session, 0);
  for (const std::string& block : blocks) {
    block_bytes += static_cast<double>(block.size()) * kSessions;
  }
  const Stopwatch watch;
  for (int i = 0; i < kSessions; ++i) {
    Appender appender(*clients.store, of, i + 1, kDayStartNs + i * (kDayNs / kSessions));
    appender.Append(blocks);
    appender.End();
  }
  return watch.Seconds();
}

double FillBig(Clients& clients, const Template& of, size_t events_per_lane, double& block_bytes) {
  Appender appender(*clients.store, of, kBigSession, kDayStartNs);
  const Stopwatch watch;
  const size_t rounds = (events_per_lane + of.events.size() - 1) / of.events.size();
  for (size_t round = 0; round < rounds; ++round) {
    for (uint32_t lane = 1; lane <= kBigLanes; ++lane) {
      const auto blocks = Blocks(of, lane, of.events.size(),
                                 static_cast<int64_t>(round) * of.stride_ns + lane * 777, 16'384);
      for (const std::string& block : blocks) block_bytes += static_cast<double>(block.size());
      appender.Append(blocks);
    }
  }
  appender.End();
  return watch.Seconds();
}

// A million events a second into one session of four streams, as the clock goes.
void AppendLive(Clients& clients, const Template& of, int seconds, double& block_bytes) {
  constexpr size_t kPerSecond = 1'000'000;
  constexpr uint32_t kLanes = 4;
  constexpr int kTicks = 10;  // a second
  std::vector<std::vector<std::string>> ticks;
  const size_t per_tick = kPerSecond / kLanes / kTicks;
  Template part = of;
  part.events.resize(std::min(part.events.size(), per_tick));
  part.stride_ns = part.events.back().start_ns + part.events.back().duration_ns -
                   part.events.front().start_ns + 1'000;
  for (int tick = 0; tick < seconds * kTicks; ++tick) {
    std::vector<std::string>& blocks = ticks.emplace_back();
    for (uint32_t lane = 1; lane <= kLanes; ++lane) {
      for (std::string& block : Blocks(part, lane, per_tick, tick * part.stride_ns)) {
        block_bytes += static_cast<double>(block.size());
        blocks.push_back(std::move(block));
      }
    }
  }
  Appender appender(*clients.store, of, kLiveSession, kDayStartNs);
  uint64_t most = 0;
  double late = 0;
  const Stopwatch watch;
  for (size_t tick = 0; tick < ticks.size(); ++tick) {
    const double due = static_cast<double>(tick) / kTicks;
    const double now = watch.Seconds();
    if (now < due) {
      std::this_thread::sleep_for(std::chrono::duration<double>(due - now));
    } else {
      late = std::max(late, now - due);
    }
    appender.Append(ticks[tick]);
    if (tick % kTicks == 0) most = std::max(most, Unsealed(clients));
  }
  const double rate = static_cast<double>(seconds) * kPerSecond / watch.Seconds();
  appender.End();
  const double drained = WaitSealed(clients);
  std::printf(
      "live: %.2f M events/s for %d s (at most %.0f ms behind the clock), at most %.2f M events "
      "unsealed meanwhile, all sealed %.2f s after the end\n",
      rate / 1e6, seconds, late * 1e3, static_cast<double>(most) / 1e6, drained);
}

double FirstChunk(Clients& clients, int session, int64_t from, int64_t to, uint64_t* all) {
  query_v1::StreamTimelineRequest request;
  request.mutable_scope()->add_session_ids(SessionId(session));
  request.set_max_block_version(trace::kBlockVersion);
  request.mutable_window()->set_start_ns(from);
  request.mutable_window()->set_end_ns(to);
  grpc::ClientContext context;
  const Stopwatch watch;
  const auto stream = clients.query->StreamTimeline(&context, request);
  query_v1::StreamTimelineResponse message;
  double first = 0;
  uint64_t events = 0;
  while (stream->Read(&message)) {
    for (const query_v1::Block& block : message.blocks().blocks()) {
      trace::EventColumns columns;
      Fail(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns));
      events += columns.size();
    }
    if (first == 0 && message.has_blocks()) {
      first = watch.Seconds();
      if (all == nullptr) context.TryCancel();
    }
  }
  if (first == 0) Fail(absl::NotFoundError("the window holds no blocks"));
  if (all == nullptr) return first;
  Fail(nanolane::rpc::FromGrpc(stream->Finish()));
  *all = events;
  return watch.Seconds();
}

double Tiles(Clients& clients, int64_t from, int64_t to, uint64_t& starts) {
  query_v1::GetTilesRequest request;
  for (uint32_t lane = 1; lane <= kBigLanes; ++lane) {
    query_v1::LaneRef& ref = *request.add_lanes();
    ref.set_session_id(SessionId(kBigSession));
    ref.set_lane_id(lane);
  }
  request.mutable_window()->set_start_ns(from);
  request.mutable_window()->set_end_ns(to);
  request.set_columns(1'600);
  grpc::ClientContext context;
  query_v1::GetTilesResponse response;
  const Stopwatch watch;
  Fail(nanolane::rpc::FromGrpc(clients.query->GetTiles(&context, request, &response)));
  const double seconds = watch.Seconds();
  starts = 0;
  for (const auto& lane : response.lanes()) {
    for (const uint32_t count : lane.spans().starts()) starts += count;
  }
  return seconds;
}

double Density(Clients& clients, uint64_t& events) {
  query_v1::GetDensityRequest request;
  request.mutable_window()->set_start_ns(kDayStartNs);
  request.mutable_window()->set_end_ns(kDayStartNs + kDayNs);
  request.set_max_bins(1'600);
  grpc::ClientContext context;
  query_v1::GetDensityResponse response;
  const Stopwatch watch;
  Fail(nanolane::rpc::FromGrpc(clients.query->GetDensity(&context, request, &response)));
  const double seconds = watch.Seconds();
  events = 0;
  for (const auto& layer : response.layers()) {
    for (const auto& bin : layer.bins()) {
      for (const auto& cell : bin.cells()) events += cell.events();
    }
  }
  return seconds;
}

void Print(const std::string& what, const Samples& cold, const Samples& warm) {
  std::printf("%-62s cold %7.1f ms (%.1f .. %.1f)", what.c_str(), cold.Median() * 1e3,
              cold.Lowest() * 1e3, cold.Highest() * 1e3);
  if (!warm.values.empty()) {
    std::printf("   warm %7.1f ms (%.1f .. %.1f)", warm.Median() * 1e3, warm.Lowest() * 1e3,
                warm.Highest() * 1e3);
  }
  std::printf("\n");
  std::fflush(stdout);
}

// Runs `ask` against a fresh process with nothing in the page cache, several times, and then warm.
void ColdAndWarm(ServerProcess& server, const std::string& what,
                 const std::function<double(Clients&, int round)>& ask) {
  Samples cold;
  Samples warm;
  for (int round = 0; round < 3; ++round) {
    server.Stop(SIGTERM);
    nanolane::bench::DropCache(server.folder() + "/data");
    Fail(server.Restart(SIGTERM));
    Clients clients(server.address());
    cold.Add(ask(clients, round));
  }
  Clients clients(server.address());
  for (int round = 0; round < 15; ++round) warm.Add(ask(clients, round));
  Print(what, cold, warm);
}

}  // namespace

int main(int argc, char** argv) {
  const double scale = argc > 1 ? std::atof(argv[1]) : 1;
  nanolane::bench::PrintMachine();
  const auto events_per_session = static_cast<size_t>(500'000 * scale);
  const auto events_per_lane = static_cast<size_t>(5'000'000 * scale);
  Template of = MakeTemplate(200'000);
  std::printf("%zu events of one stream of train_gpt as template, %zu ops\n", of.events.size(),
              of.workload.dictionary.tables().op_count());
  auto server = ServerProcess::Start(nanolane::testing::SiblingBinary("nanolane"));
  Fail(server.status());
  double block_bytes = 0;
  uint64_t total = 0;
  {
    Clients clients(server->address());
    double seconds = FillSessions(clients, of, events_per_session, block_bytes);
    double sealed = WaitSealed(clients);
    const double events = static_cast<double>(events_per_session) * kSessions;
    std::printf(
        "%.0f M events in %d sessions: appended at %.2f M/s, sealed %.1f s later (%.2f M/s "
        "in all), blocks %.2f bytes/event\n",
        events / 1e6, kSessions, events / seconds / 1e6, sealed, events / (seconds + sealed) / 1e6,
        block_bytes / events);
    PrintProcess("after that:", *server, block_bytes);
    AppendLive(clients, of, static_cast<int>(30 * std::max(scale, 0.1)), block_bytes);
    PrintProcess("after that:", *server, block_bytes);
    seconds = FillBig(clients, of, events_per_lane, block_bytes);
    sealed = WaitSealed(clients);
    const double big = static_cast<double>(events_per_lane) * kBigLanes;
    std::printf(
        "one session of %d lanes, %.0f M events: appended at %.2f M/s (encoding included), "
        "sealed %.1f s later\n",
        kBigLanes, big / 1e6, big / seconds / 1e6, sealed);
    PrintProcess("after that:", *server, block_bytes);
    // What is kept for followers goes after a minute, and the disk settles.
    std::this_thread::sleep_for(std::chrono::seconds(90));
    PrintProcess("settled:", *server, block_bytes);
    grpc::ClientContext context;
    query_v1::ListSessionsRequest request;
    request.mutable_scope()->add_session_ids(SessionId(kBigSession));
    query_v1::ListSessionsResponse response;
    Fail(nanolane::rpc::FromGrpc(clients.query->ListSessions(&context, request, &response)));
    const auto& summary = response.sessions(0);
    std::printf("  sealed: blocks %.2f, index %.2f bytes/event\n",
                static_cast<double>(summary.stored_bytes()) / static_cast<double>(summary.events()),
                static_cast<double>(summary.index_bytes()) / static_cast<double>(summary.events()));
  }
  const auto session_span = static_cast<int64_t>(static_cast<double>(of.stride_ns) *
                                                 static_cast<double>(events_per_session) /
                                                 static_cast<double>(of.events.size()));
  const auto span = static_cast<int64_t>(static_cast<double>(of.stride_ns) *
                                         static_cast<double>(events_per_lane) /
                                         static_cast<double>(of.events.size()));
  ColdAndWarm(*server, "first chunk of a window of 10 ms", [&](Clients& clients, int round) {
    const int64_t from = session_span / 3 + round * 1'000'000;
    return FirstChunk(clients, 1 + (17 + round * 31) % kSessions, from, from + 10'000'000, nullptr);
  });
  uint64_t streamed = 0;
  ColdAndWarm(*server, "1 M events to a client that decodes them", [&](Clients& clients, int) {
    const int64_t from = span / 2;
    return FirstChunk(clients, kBigSession, from, from + span / 100 / 2, &streamed);
  });
  std::printf("  (%.2f M events)\n", static_cast<double>(streamed) / 1e6);
  for (const int64_t share : {10, 1}) {
    uint64_t starts = 0;
    ColdAndWarm(*server,
                absl::StrFormat("tiles of 1,600 columns x 20 lanes over %.0f M events",
                                static_cast<double>(events_per_lane) * kBigLanes / 1e6 /
                                    static_cast<double>(share)),
                [&](Clients& clients, int round) {
                  const int64_t from = share == 1 ? 0 : span / 3 + round * 12'345;
                  return Tiles(clients, from, from + span / share, starts);
                });
    std::printf("  (%.2f M starts)\n", static_cast<double>(starts) / 1e6);
  }
  ColdAndWarm(*server, "density of a day over all sessions, 1,600 bins at most",
              [&](Clients& clients, int) { return Density(clients, total); });
  std::printf("  (%.2f M events)\n", static_cast<double>(total) / 1e6);
  return 0;
}
