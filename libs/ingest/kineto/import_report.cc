#include "libs/ingest/kineto/import_report.h"

#include <xxhash.h>

#include <filesystem>

#include "absl/strings/str_format.h"
#include "libs/base/str_cat.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

using nanolane::trace::v1::Session;
using trace::EventKind;

// Kinds that an import gives, as numbers of the session's proto too.
constexpr EventKind kKinds[] = {EventKind::kKernel, EventKind::kMemcpy, EventKind::kMemset,
                                EventKind::kSync,   EventKind::kNvtx,   EventKind::kMemory};

// Session times that look like this many ns since 1970 or more are taken for Unix time: 2001.
constexpr int64_t kEpochNs = 1'000'000'000'000'000'000;

nanolane::trace::v1::EventKind ToProto(EventKind kind) {
  return static_cast<nanolane::trace::v1::EventKind>(kind);
}

void AddLoss(EventKind kind, const LeftOut& left_out, Session& session) {
  nanolane::trace::v1::Loss& loss = *session.add_left_out();
  loss.set_kind(ToProto(kind));
  loss.set_reason(left_out.reason);
  loss.set_count(left_out.count);
}

void Tell(const Oddity& oddity, std::string_view reason, std::vector<LeftOut>& out) {
  if (oddity.count == 0) return;
  out.push_back({.reason = base::StrCat(reason, ", first at byte ", oddity.first_offset),
                 .count = oddity.count,
                 .first_offset = oddity.first_offset});
}

// Names of files are bytes; the session's fields are UTF-8.
std::string FileName(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::string clean;
  for (size_t i = 0; i < name.size();) {
    const size_t valid = ValidUtf8Prefix(std::string_view(name).substr(i));
    clean.append(name, i, valid);
    i += valid;
    if (i < name.size()) {
      clean += "\xEF\xBF\xBD";
      ++i;
    }
  }
  return clean;
}

}  // namespace

std::string SessionIdOf(const ContentHash& content, const Process& process) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  XXH3_128bits_update(state, &content.low, sizeof(content.low));
  XXH3_128bits_update(state, &content.high, sizeof(content.high));
  XXH3_128bits_update(state, &process.id, sizeof(process.id));
  XXH3_128bits_update(state, process.id_text.data(), process.id_text.size());
  const XXH128_hash_t digest = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return absl::StrFormat("%016x%016x", digest.high64, digest.low64);
}

Session DescribeSession(const std::string& path, const TraceFacts& facts,
                        const TraceContents& contents, const Process& process) {
  Session session;
  session.set_host(facts.host);
  if (process.id > 0) session.set_pid(static_cast<uint64_t>(process.id));
  const auto name = contents.process_names.find(process.id);
  const bool named = name != contents.process_names.end() && process.id_text.empty();
  session.set_executable(named ? std::string(contents.names.Text(name->second)) : "python");
  session.set_source(base::StrCat("import:", FileName(path)));
  for (const auto& [label, value] : facts.labels) (*session.mutable_labels())[label] = value;
  if (!process.id_text.empty()) (*session.mutable_labels())["process"] = process.id_text;
  nanolane::trace::v1::ClockFacts& clock = *session.mutable_clock();
  if (facts.has_base_time) {
    clock.set_unix_offset_ns(facts.base_time_ns);
    clock.set_unix_offset_known(true);
  } else {
    clock.set_unix_offset_known(contents.first_start_ns >= kEpochNs);
  }
  return session;
}

void AddGpus(const TraceFacts& facts, const std::vector<int32_t>& devices, Session& session) {
  for (const int32_t device : devices) {
    nanolane::trace::v1::Gpu& gpu = *session.add_gpus();
    gpu.set_index(device);
    for (const DeviceFacts& known : facts.devices) {
      // AMD's profiler numbers devices otherwise than the list does; one GPU alone is that one.
      if (known.id != device && facts.devices.size() != 1) continue;
      gpu.set_name(known.name);
      gpu.set_memory_bytes(known.memory_bytes);
      break;
    }
  }
}

std::vector<LeftOut> TellFile(const TraceReader& reader, const TraceContents& contents,
                              const absl::Status& source) {
  std::vector<LeftOut> out;
  const FileTrouble& trouble = reader.trouble();
  Tell(trouble.malformed,
       base::StrCat("parts of the file could not be read and were skipped: ",
                    trouble.malformed_what),
       out);
  if (!source.ok()) {
    out.push_back(
        {.reason = base::StrCat("what came before it was kept: ", source.message()), .count = 1});
  }
  if (trouble.truncated) {
    out.push_back({.reason = base::StrCat("the trace ends too early, at byte ",
                                          trouble.truncated_offset, "; what came before was kept"),
                   .count = 1,
                   .first_offset = trouble.truncated_offset});
  }
  if (trouble.trailing_offset > 0) {
    out.push_back(
        {.reason = base::StrCat("what follows the end of the trace was left out, from byte ",
                                trouble.trailing_offset, " on"),
         .count = 1,
         .first_offset = trouble.trailing_offset});
  }
  const JsonScanner& scanner = reader.scanner();
  Tell(scanner.not_utf8(), "kept with replacement characters: texts that were not UTF-8", out);
  Tell(scanner.control_bytes(), "kept with replacement characters: texts with raw control bytes",
       out);
  Tell(scanner.not_finite(), "kept as not known: numbers that were inf or nan", out);
  Tell(contents.begin_end_pairs,
       "left out: begin and end as two events, which PyTorch's profiler does not write", out);
  Tell(contents.too_many_threads, "left out: events of more threads than a session can hold", out);
  if (contents.names.refused() > 0) {
    out.push_back({.reason = "kept under a placeholder: names beyond the bound on different names",
                   .count = contents.names.refused()});
  }
  return out;
}

std::vector<LeftOut> TellProcess(const EmitCounts& counts, const Process& process,
                                 Session& session) {
  std::vector<LeftOut> out;
  const auto tell = [&](EventKind kind, std::string reason, uint64_t count) {
    if (count == 0) return;
    out.push_back({.reason = std::move(reason), .count = count});
    AddLoss(kind, out.back(), session);
  };
  for (const EventKind kind : kKinds) {
    for (int i = 1; i < kVerdictCount; ++i) {
      const auto verdict = static_cast<Verdict>(i);
      tell(kind, base::StrCat(trace::ToString(kind), " ", ReasonOf(verdict)),
           counts.verdicts[static_cast<size_t>(kind)][static_cast<size_t>(i)]);
    }
  }
  tell(EventKind::kKernel,
       "launches without a kernel in the file: it ran outside of the capture, or the launch was "
       "recorded into a CUDA graph",
       process.launches_without_kernel);
  return out;
}

void AddLeftOut(const std::vector<LeftOut>& left_out, Session& session) {
  for (const LeftOut& entry : left_out) AddLoss(EventKind::kUnspecified, entry, session);
}

void FillCounts(const EmitCounts& counts, ImportedSession& imported) {
  for (const EventKind kind : kKinds) {
    const uint64_t count = counts.events[static_cast<size_t>(kind)];
    imported.by_kind[std::string(trace::ToString(kind))] = count;
    imported.events += count;
  }
}

void FillFromStore(const nanolane::trace::v1::SessionSummary& summary, ImportedSession& imported) {
  FillCounts({}, imported);
  imported.already_stored = true;
  imported.events = summary.events();
  for (const nanolane::trace::v1::KindCount& count : summary.by_kind()) {
    imported.by_kind[std::string(trace::ToString(static_cast<EventKind>(count.kind())))] =
        count.count();
  }
  for (const nanolane::trace::v1::Loss& loss : summary.session().left_out()) {
    imported.left_out.push_back({.reason = loss.reason(), .count = loss.count()});
  }
}

}  // namespace nanolane::ingest::kineto
