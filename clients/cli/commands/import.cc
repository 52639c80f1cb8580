// nanolane import: trace files into the store.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/cli/commands/commands.h"
#include "clients/cli/output/progress.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/ingest/kineto/kineto_import.h"
#include "libs/ingest/session_writer.h"
#include "libs/rpc/channel.h"

namespace nanolane::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ingest::ImportedSession& session) {
  Json by_kind = Json::object();
  for (const char* kind : {"kernel", "memcpy", "memset", "sync", "nvtx", "memory"}) {
    const auto found = session.by_kind.find(kind);
    by_kind[kind] = found == session.by_kind.end() ? 0 : found->second;
  }
  Json left_out = Json::array();
  for (const ingest::LeftOut& left : session.left_out) {
    Json entry = {{"reason", left.reason}, {"count", left.count}};
    if (left.first_offset.has_value()) entry["first_offset"] = *left.first_offset;
    left_out.push_back(std::move(entry));
  }
  return {{"session_id", session.session_id}, {"project", session.project},
          {"events", session.events},         {"by_kind", std::move(by_kind)},
          {"left_out", std::move(left_out)},  {"already_stored", session.already_stored}};
}

class Import final : public Command {
 public:
  explicit Import(CLI::App& command) {
    command.add_option("files", files_, "PyTorch/Kineto Chrome traces: .json or .json.gz")
        ->required();
    command.add_option("--project", project_, "Project of the sessions")->capture_default_str();
    command.footer(
        "Imports each process in the files as a session. The same content imported again\n"
        "gives the same session. What could not be taken in is counted and told.");
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto channel, rpc::Connect(options.server));
    ingest::StoreSinkFactory sinks(channel);
    std::vector<ingest::ImportedSession> all;
    bool failed = false;
    for (const std::string& file : files_) {
      auto sessions = ImportFile(file, sinks);
      if (!sessions.ok()) {
        // The other files are imported all the same; the exit code tells.
        failed = true;
        std::cerr << "nanolane: " << sessions.status().message() << "\n";
        continue;
      }
      if (sessions->empty()) {
        std::cerr << "nanolane: " << file << ": no GPU events, ranges or memory changes in it\n";
      }
      for (auto& session : *sessions) all.push_back(std::move(session));
    }
    Print(all, options);
    if (!failed) return absl::OkStatus();
    return absl::FailedPreconditionError("some files were not imported (see above)");
  }

 private:
  absl::StatusOr<std::vector<ingest::ImportedSession>> ImportFile(const std::string& file,
                                                                  ingest::SinkFactory& sinks) {
    ProgressBar bar(base::StrCat("importing ", file.substr(file.rfind('/') + 1)));
    ingest::KinetoOptions import;
    import.project = project_;
    import.progress = [&bar](const ingest::ImportProgress& progress) {
      // Reading is most of the work: nine tenths of the bar.
      const uint64_t written =
          progress.events == 0
              ? 0
              : progress.bytes_total *
                    std::min<uint64_t>(progress.events_written, progress.events) / progress.events;
    bar.Update(progress.bytes_read * 9 + written, progress.bytes_total * 10,
               base::StrCat(base::GroupedCount(progress.events), " records read"));
  };
  return ingest::ImportKineto(file, sinks, import);
}

static void
Print(const std::vector<ingest::ImportedSession>& all, const GlobalOptions& options) {
  if (options.json()) {
    Json array = Json::array();
    for (const auto& session : all) array.push_back(ToJson(session));
    std::cout << array.dump(2) << "\n";
    return;
  }
  if (all.empty()) return;
  Table table({{"session"},
               {"project"},
               {"events", Align::kRight},
               {"kernels", Align::kRight},
               {"copies", Align::kRight},
               {"memsets", Align::kRight},
               {"syncs", Align::kRight},
               {"ranges", Align::kRight},
               {"memory", Align::kRight},
               {""}});
  for (const auto& session : all) {
    const auto count = [&](const char* kind) {
      const auto found = session.by_kind.find(kind);
      return base::GroupedCount(found == session.by_kind.end() ? 0 : found->second);
    };
    table.AddRow({session.session_id, session.project, base::GroupedCount(session.events),
                  count("kernel"), count("memcpy"), count("memset"), count("sync"), count("nvtx"),
                  count("memory"), session.already_stored ? "was there already" : ""});
  }
  std::cout << table.Render();
  for (const auto& session : all) {
    for (const ingest::LeftOut& left : session.left_out) {
      std::cout << session.session_id.substr(0, 8) << ": " << base::GroupedCount(left.count)
                << " × " << left.reason;
      if (left.first_offset.has_value())
        std::cout << " (first at byte " << *left.first_offset << ")";
      std::cout << "\n";
    }
  }
}

std::vector<std::string> files_;
std::string project_ = "default";
};  // namespace

}  // namespace nanolane::cli

std::unique_ptr<Command> AddImport(CLI::App& command) { return std::make_unique<Import>(command); }

}  // namespace nanolane::cli
