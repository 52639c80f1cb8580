// nanolane export: a session as a file that other tools read.
#include <fstream>
#include <iostream>
#include <map>

#include "clients/cli/chrome/chrome_trace_writer.h"
#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/output/progress.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::cli {
namespace {

// Drops what lies outside a window, since whole blocks are sent.
trace::EventColumns Inside(const trace::EventColumns& events,
                           const nanolane::trace::v1::TimeRange& window) {
  trace::EventColumns inside;
  for (size_t i = 0; i < events.size(); ++i) {
    const trace::Event event = events.At(i);
    const bool runs_in = event.start_ns < window.start_ns() &&
                         event.duration_ns > window.start_ns() - event.start_ns;
    if (event.start_ns < window.end_ns() && (event.start_ns >= window.start_ns() || runs_in)) {
      inside.Add(event);
    }
  }
  return inside;
}

class Export final : public Command {
 public:
  explicit Export(CLI::App& command) {
    command.add_option("session", session_, "Id of the session, its beginning, or \"latest\"")
        ->required();
    command.add_option("--to", to_, "Form of the file")
        ->capture_default_str()
        ->check(CLI::IsMember({"chrome"}));
    command.add_option("-o,--output", output_, "File to write; - for standard output")
        ->capture_default_str();
    command.add_option("--range", range_, "FROM..TO from the session's start, such as 1.2ms..3ms");
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    ASSIGN_OR_RETURN(const SessionSummary summary, client->FindSession(session_));
    query_v1::StreamTimelineRequest request;
    request.mutable_scope()->add_session_ids(summary.session().session_id());
    request.set_max_block_version(trace::kBlockVersion);
    if (!range_.empty()) {
      ASSIGN_OR_RETURN(const base::TimeRange range, base::ParseRange(range_));
      *request.mutable_window() = ToSessionTime(range, summary);
    }
    if (output_ == "-") return Write(*client, request, summary, std::cout);
    std::ofstream file(output_, std::ios::binary);
    RETURN_IF_ERROR(Write(*client, request, summary, file));
    file.close();
    if (!file) {
      return absl::PermissionDeniedError(
          base::StrCat("cannot write ", output_,
                       "; check the folder and the space left, or name another with -o"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Write(QueryClient& client, const query_v1::StreamTimelineRequest& request,
                     const SessionSummary& summary, std::ostream& out) {
    ChromeTraceWriter writer(out, summary);
    std::map<uint32_t, trace::Lane> lanes;
    std::map<uint64_t, trace::Dictionary> dictionaries;  // by epoch
    ProgressBar bar("exporting");
    bool ended = false;
    grpc::ClientContext context;
    const auto stream = client.stub().StreamTimeline(&context, request);
    query_v1::StreamTimelineResponse message;
    while (out.good() && stream->Read(&message)) {
      if (message.has_header()) {
        for (const auto& lane : message.header().lanes()) {
          lanes[lane.lane_id()] = trace::FromProto(lane.lane());
        }
      } else if (message.has_dictionary()) {
        RETURN_IF_ERROR(dictionaries[message.dictionary().epoch()].Apply(
            trace::FromProto(message.dictionary().delta())));
      } else if (message.has_blocks()) {
        for (const query_v1::Block& block : message.blocks().blocks()) {
          trace::EventColumns events;
          RETURN_IF_ERROR(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), events));
          if (request.has_window()) events = Inside(events, request.window());
          writer.WriteEvents(lanes[block.lane_id()], block.epoch(), events,
                             dictionaries[block.epoch()]);
        }
      }
      ended = message.has_end();
      bar.Update(message.sent_events(), message.expected_events(),
                 base::StrCat(base::GroupedCount(message.sent_events()), " events"));
    }
    if (!out.good()) context.TryCancel();
    const absl::Status status = rpc::FromGrpc(stream->Finish());
    if (!out.good()) {
      return absl::PermissionDeniedError(
          base::StrCat("cannot write ", output_,
                       "; check the folder and the space left, or name another with -o"));
    }
    RETURN_IF_ERROR(status);
    if (!ended) return absl::DataLossError("the server ended the stream early; try again");
    writer.Finish();
    return absl::OkStatus();
  }

  std::string session_;
  std::string to_ = "chrome";
  std::string output_ = "-";
  std::string range_;
};

}  // namespace

std::unique_ptr<Command> AddExport(CLI::App& command) { return std::make_unique<Export>(command); }

}  // namespace nanolane::cli
