// What is told of an import: the session's facts, and everything that was left out or changed.
#pragma once

#include <string>
#include <vector>

#include "libs/ingest/kineto/byte_source.h"
#include "libs/ingest/kineto/kineto_import.h"
#include "libs/ingest/kineto/session_emitter.h"
#include "libs/ingest/kineto/trace_contents.h"
#include "libs/ingest/kineto/trace_reader.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::ingest::kineto {

// 32 hexadecimal digits from the file's inflated content and the process.
std::string SessionIdOf(const ContentHash& content, const Process& process);

// What is known before any event is written.
nanolane::trace::v1::Session DescribeSession(const std::string& path, const TraceFacts& facts,
                                             const TraceContents& contents, const Process& process);

// GPUs of the devices that events name.
void AddGpus(const TraceFacts& facts, const std::vector<int32_t>& devices,
             nanolane::trace::v1::Session& session);

// What was wrong with the file as a whole. `source` is the file's status after its last byte.
std::vector<LeftOut> TellFile(const TraceReader& reader, const TraceContents& contents,
                              const absl::Status& source);

// What was wrong with the events of one process, by kind; also put into `session`.
std::vector<LeftOut> TellProcess(const EmitCounts& counts, const Process& process,
                                 nanolane::trace::v1::Session& session);

// Puts file-wide facts into `session`.
void AddLeftOut(const std::vector<LeftOut>& left_out, nanolane::trace::v1::Session& session);

// by_kind and events of a session as counted, and as stored before.
void FillCounts(const EmitCounts& counts, ImportedSession& imported);
void FillFromStore(const nanolane::trace::v1::SessionSummary& summary, ImportedSession& imported);

}  // namespace nanolane::ingest::kineto
