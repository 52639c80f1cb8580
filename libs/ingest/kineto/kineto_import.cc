#include "libs/ingest/kineto/kineto_import.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/ingest/kineto/byte_source.h"
#include "libs/ingest/kineto/import_report.h"
#include "libs/ingest/kineto/launch_join.h"
#include "libs/ingest/kineto/session_emitter.h"
#include "libs/ingest/kineto/trace_collector.h"
#include "libs/ingest/kineto/trace_contents.h"
#include "libs/ingest/kineto/trace_reader.h"

namespace nanolane::ingest::kineto {
namespace {

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return {status.code(), base::StrCat(path, ": ", status.message())};
}

// One import of one file: read, join, write.
class KinetoImport {
 public:
  KinetoImport(const std::string& path, SinkFactory& sinks, const KinetoOptions& options)
      : path_(path),
        sinks_(sinks),
        options_(options),
        contents_({.memory_bytes = options.memory_budget_bytes, .spill_dir = options.spill_dir}),
        joined_({.memory_bytes = options.memory_budget_bytes / 4, .spill_dir = options.spill_dir}),
        collector_(contents_, [this] { Tick(); }) {}

  absl::StatusOr<std::vector<ImportedSession>> Run();

 private:
  absl::Status Read();
  absl::StatusOr<ImportedSession> WriteProcess(ProcessIndex index, RecordReaders& readers);
  absl::Status WriteNew(ProcessIndex index, RecordReaders& readers,
                        nanolane::trace::v1::Session session, ImportedSession& imported);
  bool HasEvents(const Process& process) const {
    return process.device_records + process.annotations + process.memory_events +
               process.sync_calls >
           0;
  }
  void Tick();

  const std::string& path_;
  SinkFactory& sinks_;
  const KinetoOptions& options_;
  std::unique_ptr<FileSource> source_;
  TraceContents contents_;
  JoinedSorter joined_;
  TraceCollector collector_;
  std::unique_ptr<TraceReader> reader_;
  std::vector<bool> launching_;
  std::vector<trace::StackId> stack_of_call_;
  std::vector<LeftOut> file_trouble_;
  ImportProgress progress_;
};

void KinetoImport::Tick() {
  if (!options_.progress) return;
  progress_.bytes_read = source_->bytes_read();
  progress_.bytes_total = std::max(source_->bytes_total(), progress_.bytes_read);
  progress_.events = reader_->events();
  options_.progress(progress_);
}

absl::Status KinetoImport::Read() {
  ASSIGN_OR_RETURN(source_, FileSource::Open(path_));
  reader_ = std::make_unique<TraceReader>(*source_, collector_);
  const absl::Status read = reader_->Read();
  const absl::Status& source = source_->status();
  // A damaged file may still give events; any other fault of the source ends the import.
  if (!source.ok() && source.code() != absl::StatusCode::kDataLoss) return WithPath(path_, source);
  if (!read.ok()) {
    return WithPath(
        path_, source.ok() ? read
                           : absl::Status(read.code(),
                                          base::StrCat(read.message(), "; ", source.message())));
  }
  Tick();
  file_trouble_ = TellFile(*reader_, contents_, source);
  if (reader_->events() == 0 && !file_trouble_.empty()) {
    return WithPath(path_, absl::InvalidArgumentError(base::StrCat("no event could be read: ",
                                                                   file_trouble_.front().reason)));
  }
  return absl::OkStatus();
}

absl::Status KinetoImport::WriteNew(ProcessIndex index, RecordReaders& readers,
                                    nanolane::trace::v1::Session session,
                                    ImportedSession& imported) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SessionSink> sink, sinks_.Open(session));
  SessionEmitter emitter({.contents = contents_,
                          .launching = launching_,
                          .stack_of_call = stack_of_call_,
                          .wrote =
                              [this](uint64_t count) {
                                progress_.events_written += count;
                                Tick();
                              }},
                         index, *sink);
  RETURN_IF_ERROR(emitter.Run(readers));
  AddGpus(reader_->facts(), emitter.counts().devices, session);
  imported.left_out = TellProcess(emitter.counts(), contents_.processes[index], session);
  AddLeftOut(file_trouble_, session);
  imported.left_out.insert(imported.left_out.end(), file_trouble_.begin(), file_trouble_.end());
  FillCounts(emitter.counts(), imported);
  session.set_ended(true);
  return sink->Finish(session);
}

absl::StatusOr<ImportedSession> KinetoImport::WriteProcess(ProcessIndex index,
                                                           RecordReaders& readers) {
  const Process& process = contents_.processes[index];
  nanolane::trace::v1::Session session =
      DescribeSession(path_, reader_->facts(), contents_, process);
  session.set_session_id(SessionIdOf(source_->hash(), process));
  session.set_project(options_.project.empty() ? "default" : options_.project);
  ImportedSession imported;
  imported.session_id = session.session_id();
  ASSIGN_OR_RETURN(const auto stored, sinks_.FindEnded(session.session_id()));
  if (stored.has_value()) {
    SessionEmitter::Skip(readers, index);
    imported.project = stored->session().project();
    FillFromStore(*stored, imported);
  } else {
    imported.project = session.project();
    RETURN_IF_ERROR(WriteNew(index, readers, std::move(session), imported));
  }
  return imported;
}

absl::StatusOr<std::vector<ImportedSession>> KinetoImport::Run() {
  RETURN_IF_ERROR(Read());
  RETURN_IF_ERROR(contents_.hosts.End());
  RETURN_IF_ERROR(contents_.memory.End());
  LaunchJoin join(contents_, joined_);
  RETURN_IF_ERROR(join.Run());
  launching_ = join.TakeLaunching();
  stack_of_call_.resize(contents_.call_count);
  RecordReaders readers = {.hosts = HostSorter::Reader(contents_.hosts),
                           .memory = MemorySorter::Reader(contents_.memory),
                           .joined = JoinedSorter::Reader(joined_)};
  std::vector<std::pair<int64_t, ImportedSession>> by_pid;
  for (ProcessIndex i = 0; i < contents_.processes.size(); ++i) {
    if (!HasEvents(contents_.processes[i])) {
      SessionEmitter::Skip(readers, i);
      continue;
    }
    ASSIGN_OR_RETURN(ImportedSession imported, WriteProcess(i, readers));
    by_pid.emplace_back(contents_.processes[i].id, std::move(imported));
  }
  std::stable_sort(by_pid.begin(), by_pid.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ImportedSession> sessions;
  for (auto& [pid, imported] : by_pid) sessions.push_back(std::move(imported));
  return sessions;
}

}  // namespace
}  // namespace nanolane::ingest::kineto

namespace nanolane::ingest {

absl::StatusOr<std::vector<ImportedSession>> ImportKineto(const std::string& path,
                                                          SinkFactory& sinks,
                                                          const KinetoOptions& options) {
  return kineto::KinetoImport(path, sinks, options).Run();
}

}  // namespace nanolane::ingest
