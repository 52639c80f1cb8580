// What tests of the importer share: temporary files, imports of texts, events by lane.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "libs/ingest/kineto/kineto_import.h"
#include "libs/ingest/kineto/memory_sink.h"

namespace nanolane::ingest::kineto {

// A folder that is removed with everything in it.
class TempFolder {
 public:
  TempFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "kineto_test_XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    return path;
  }
  std::string path() const { return path_.string(); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

// One gzip member.
inline std::string Gzip(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// An import of a text into memory.
struct Imported {
  absl::Status status;
  std::vector<ImportedSession> sessions;
  MemorySinks sinks;

  const MemorySession& Session(size_t i = 0) const {
    return *sinks.sessions.at(sessions.at(i).session_id);
  }
  uint64_t Count(const std::string& kind, size_t i = 0) const {
    return sessions.at(i).by_kind.at(kind);
  }
  // Count of the one reason that holds `part`; 0 where there is none.
  uint64_t LeftOutCount(std::string_view part, size_t i = 0) const {
    const LeftOut* entry = FindLeftOut(part, i);
    return entry != nullptr ? entry->count : 0;
  }
  const LeftOut* FindLeftOut(std::string_view part, size_t i = 0) const {
    for (const LeftOut& entry : sessions.at(i).left_out) {
      if (entry.reason.find(part) != std::string::npos) return &entry;
    }
    return nullptr;
  }
  // Events of the lane with this label, in order of writing; none where there is no such lane.
  std::vector<trace::Event> Lane(const std::string& label, size_t i = 0) const {
    std::vector<trace::Event> found;
    for (const auto& [id, events] : Session(i).events) {
      if (trace::LaneLabel(*Session(i).tables().LaneOf(id)) != label) continue;
      found.insert(found.end(), events.begin(), events.end());
    }
    return found;
  }
  const std::string& Name(const trace::Event& event, size_t i = 0) const {
    return Session(i).tables().OpName(event.op);
  }
  const trace::Op& OpOf(const trace::Event& event, size_t i = 0) const {
    return Session(i).tables().OpOf(event.op);
  }
  // Functions of a stack, outermost first.
  std::vector<std::string> Stack(const trace::Event& event, size_t i = 0) const {
    const trace::Dictionary& tables = Session(i).tables();
    std::vector<std::string> functions;
    for (const trace::FrameId frame : tables.Frames(event.stack)) {
      functions.push_back(tables.String(tables.SymbolOf(frame).function));
    }
    return functions;
  }
};

inline void ImportFile(const std::string& path, Imported& imported,
                       const KinetoOptions& options = {}) {
  absl::StatusOr<std::vector<ImportedSession>> sessions =
      ImportKineto(path, imported.sinks, options);
  imported.status = sessions.status();
  imported.sessions.clear();
  if (sessions.ok()) imported.sessions = *std::move(sessions);
}

inline Imported ImportText(std::string_view text, const KinetoOptions& options = {}) {
  const TempFolder folder;
  Imported imported;
  ImportFile(folder.Write("trace.json", text), imported, options);
  return imported;
}

// A trace whose list holds `events`, texts of objects.
inline std::string TraceOf(const std::vector<std::string>& events, std::string_view extra = "") {
  std::string text = "{\"schemaVersion\": 1,\n  \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) {
    if (i > 0) text += ",\n";
    text += "  " + events[i];
  }
  text += "\n  ]";
  text += extra;
  return text + "}\n";
}

// Texts of events. Times are µs, as text.
struct EventText {
  std::string name = "gemm";
  std::string ts = "1000";
  std::string dur = "10";
  int64_t pid = 0;
  int64_t tid = 7;
  uint64_t correlation = 0;
  std::string more;  // further members of args, each with a comma in front
};

inline std::string SpanText(std::string_view category, const EventText& event) {
  std::string text = "{\"ph\": \"X\", \"cat\": \"";
  text += category;
  text += "\", \"name\": \"" + event.name + "\", \"pid\": " + std::to_string(event.pid) +
          ", \"tid\": " + std::to_string(event.tid) + ", \"ts\": " + event.ts +
          ", \"dur\": " + event.dur + ", \"args\": {\"External id\": 0";
  if (event.correlation != 0) text += ", \"correlation\": " + std::to_string(event.correlation);
  return text + event.more + "}}";
}

inline std::string DeviceArgs(int device, int context, int64_t stream) {
  return ", \"device\": " + std::to_string(device) + ", \"context\": " + std::to_string(context) +
         ", \"stream\": " + std::to_string(stream);
}

// A kernel on a stream of device 0, context 1.
inline std::string KernelText(const EventText& event, int device = 0) {
  EventText full = event;
  full.pid = device;
  full.more = DeviceArgs(device, 1, event.tid) + event.more;
  return SpanText("kernel", full);
}

// A call of thread 100 (if the text says no other) of process 100.
inline std::string CallText(EventText event) {
  if (event.pid == 0) event.pid = 100;
  if (event.tid == 7) event.tid = event.pid;
  return SpanText("cuda_runtime", event);
}

}  // namespace nanolane::ingest::kineto
