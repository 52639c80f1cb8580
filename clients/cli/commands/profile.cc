// nanolane profile: records what a process does on its GPUs, and shows how it goes.
#include <unistd.h>

#include <iostream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "clients/cli/capture/capture_report.h"
#include "clients/cli/capture/capture_request.h"
#include "clients/cli/capture/interruption.h"
#include "clients/cli/capture/processes.h"
#include "clients/cli/capture/proto_time.h"
#include "clients/cli/collector_client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/output/status_line.h"
#include "libs/base/mutex.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/base/time_text.h"

namespace nanolane::cli {
namespace {

using collector_v1::CaptureStatus;
using collector_v1::Process;
using collector_v1::StartCaptureResponse;

// Between messages: a line that is written over may move, lines in a log shall not flood it.
constexpr int64_t kTerminalIntervalNs = 200'000'000;
constexpr int64_t kLogIntervalNs = kSecondNs;

// The wish to end a capture early, which may come before there is one. Thread-safe.
class EarlyEnd {
 public:
  // Ends the capture, or the next one that is started.
  void Ask() {
    CollectorClient* client = nullptr;
    std::string session_id;
    {
      base::MutexLock lock(mutex_);
      asked_ = true;
      client = client_;
      session_id = session_id_;
    }
    if (client != nullptr) End(*client, session_id);
  }

  bool asked() const {
    base::MutexLock lock(mutex_);
    return asked_;
  }

  // `client` must outlive the Ask() of every other thread.
  void Started(CollectorClient& client, const std::string& session_id) {
    bool asked = false;
    {
      base::MutexLock lock(mutex_);
      client_ = &client;
      session_id_ = session_id;
      asked = asked_;
    }
    if (asked) End(client, session_id);
  }

 private:
  static void End(CollectorClient& client, const std::string& session_id) {
    // Off the line that is written over, and off the "^C" that the terminal has put there.
    if (isatty(STDERR_FILENO) != 0) std::cerr << "\n";
    std::cerr << "ending the capture; once more leaves it alone, and it ends by itself\n";
    const absl::Status ended = client.EndCapture(session_id);
    if (ended.ok()) return;
    std::cerr << base::StrCat("nanolane: cannot end the capture early: ", ended.message(), "\n");
  }

  mutable base::Mutex mutex_;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  CollectorClient* client_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::string session_id_ ABSL_GUARDED_BY(mutex_);
};

bool HasEnded(const CaptureStatus& status) {
  return status.state() == collector_v1::CAPTURE_STATE_DONE ||
         status.state() == collector_v1::CAPTURE_STATE_FAILED;
}

// Shows the capture until it has ended, and returns how it stands then.
absl::StatusOr<CaptureStatus> Watch(CollectorClient& client, const std::string& session_id) {
  StatusLine line;
  collector_v1::WatchCaptureRequest request;
  request.set_session_id(session_id);
  *request.mutable_interval() =
      ToProtoDuration(line.terminal() ? kTerminalIntervalNs : kLogIntervalNs);
  grpc::ClientContext context;
  const auto stream = client.WatchCapture(context, request);
  collector_v1::WatchCaptureResponse response;
  CaptureStatus last;
  while (stream->Read(&response)) {
    const CaptureStatus before = std::exchange(last, response.status());
    if (HasEnded(last)) {
      context.TryCancel();
      static_cast<void>(stream->Finish());  // cancelled by us: not an error
      return last;
    }
    line.Show(LossAlarm(last), ProgressText(last, before));
  }
  line.Clear();
  const absl::Status status = client.Explain(stream->Finish());
  return absl::Status(
      status.ok() ? absl::StatusCode::kUnavailable : status.code(),
      base::StrCat("lost sight of the capture (", status.message(), "); it ends by itself, and ",
                   "\"nanolane follow ", session_id, "\" shows what comes of it"));
}

class Profile final : public Command {
 public:
  explicit Profile(CLI::App& command) {
    command.add_option("process", process_, "Pid, executable, or a part of the command line")
        ->required();
    command
        .add_option("--duration", words_.duration, "How long, such as 500ms or 1m30s; at most 10m")
        ->capture_default_str();
    command.add_option("--kinds", words_.kinds, "Only these of " + CaptureKindNames())
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--project", words_.project,
                       "Project of the session, instead of the process's own");
    command.add_option("--label", words_.labels, "KEY=VALUE to keep with the session; repeatable")
        ->allow_extra_args(false);
    command.add_flag("--follow", follow_, "Print the session's id as soon as there is one");
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(collector_v1::StartCaptureRequest request, ToRequest(words_));
    // In this order: the client's threads must not take the signals, and the end that a signal asks
    // for needs the client.
    EarlyEnd early_end;
    std::unique_ptr<CollectorClient> client;
    const Interruption interruption([&] { early_end.Ask(); });
    ASSIGN_OR_RETURN(client, CollectorClient::Connect(options));
    ASSIGN_OR_RETURN(const std::vector<Process> processes, client->ListProcesses());
    ASSIGN_OR_RETURN(const Process process, FindProcess(processes, process_));
    if (early_end.asked()) return absl::CancelledError("interrupted before the capture began");
    request.set_pid(process.pid());
    ASSIGN_OR_RETURN(const StartCaptureResponse started, client->StartCapture(request));
    Announce(options, process, started);
    early_end.Started(*client, started.session_id());
    ASSIGN_OR_RETURN(CaptureStatus status, Watch(*client, started.session_id()));
    return Print(options, Report(options, process, started, std::move(status)));
  }

 private:
  void Announce(const GlobalOptions& options, const Process& process,
                const StartCaptureResponse& started) const {
    const std::string& id = started.session_id();
    if (follow_ && options.json()) {
      std::cout << nlohmann::json({{"session_id", id}}).dump() << std::endl;
    } else if (follow_) {
      std::cout << id << std::endl;
    }
    std::cerr << base::StrCat("capturing ", CommandText(process), " (pid ", process.pid(), ") for ",
                              words_.duration, " into session ", id, "; Ctrl+C ends it early\n");
  }

  static CaptureReport Report(const GlobalOptions& options, const Process& process,
                              const StartCaptureResponse& started, CaptureStatus status) {
    CaptureReport report{.status = std::move(status),
                         .process = CommandText(process),
                         .kinds = {},
                         .notes = {started.notes().begin(), started.notes().end()},
                         .server = options.server};
    for (int i = 0; i < started.kinds_size(); ++i) report.kinds.push_back(started.kinds(i));
    return report;
  }

  static absl::Status Print(const GlobalOptions& options, const CaptureReport& report) {
    if (options.json()) {
      std::cout << ToJson(report).dump(2) << "\n";
    } else {
      std::cout << ToText(report);
    }
    const CaptureStatus& status = report.status;
    if (status.state() != collector_v1::CAPTURE_STATE_FAILED) return absl::OkStatus();
    return absl::AbortedError(base::StrCat(
        "the capture failed: ",
        status.message().empty() ? "the collector does not say why" : status.message()));
  }

  std::string process_;
  CaptureWords words_{.duration = "30s", .kinds = {}, .project = "", .labels = {}};
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<Command> AddProfile(CLI::App& command) {
  return std::make_unique<Profile>(command);
}

}  // namespace nanolane::cli
