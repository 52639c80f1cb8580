#include "libs/ingest/kineto/trace_reader.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "libs/base/str_cat.h"

namespace nanolane::ingest::kineto {
namespace {

struct Beginning {
  std::string_view bytes;
  std::string_view what;
};

constexpr Beginning kOtherFiles[] = {
    {"version https://git-lfs",
     "a Git LFS pointer, not the trace that it stands for: fetch that with \"git lfs pull\""},
    {"PAR1", "a Parquet file: export the trace as Chrome JSON"},
    {"SQLite format 3",
     "an SQLite database: this import reads Chrome traces (.json, .json.gz) alone"},
    {"PK\x03\x04", "a zip archive: unpack it and import the .json files in it"},
    {"\x28\xB5\x2F\xFD", "zstd-compressed: unpack it with \"zstd -d\" first"},
    {"\xFD"
     "7zXZ",
     "xz-compressed: unpack it with \"xz -d\" first"},
    {"BZh", "bzip2-compressed: unpack it with \"bzip2 -d\" first"},
    {"\x1F\x8B", "gzip within gzip: unpack it once"},
    {"\xFF\xFE", "UTF-16 text: convert it to UTF-8 first"},
    {"\xFE\xFF", "UTF-16 text: convert it to UTF-8 first"},
    {"<", "XML or HTML: export the trace as Chrome JSON"},
};

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

absl::Status TraceReader::CheckBeginning() {
  if (scanner_.Ahead(kByteOrderMark.size()) == kByteOrderMark) scanner_.Drop(3);
  const char first = scanner_.Peek();
  if (scanner_.at_end()) return absl::InvalidArgumentError("the file is empty");
  if (first == '{' || first == '[') return absl::OkStatus();
  const std::string_view ahead = scanner_.Ahead(24);
  for (const Beginning& other : kOtherFiles) {
    if (ahead.starts_with(other.bytes)) {
      return absl::InvalidArgumentError(base::StrCat("not a trace but ", other.what));
    }
  }
  return absl::InvalidArgumentError(
      base::StrCat("not a Chrome trace: JSON begins with '{' or '[', this with \"",
                   absl::CHexEscape(base::ToAbsl(ahead.substr(0, 16))), "\""));
}

absl::Status TraceReader::NoEvents() const {
  if (trouble_.malformed.count > 0) {
    return absl::InvalidArgumentError(base::StrCat(
        "malformed at byte ", trouble_.malformed.first_offset, " (", trouble_.malformed_what,
        "), and no list of events (\"traceEvents\") was found"));
  }
  if (trouble_.truncated) {
    return absl::InvalidArgumentError(
        base::StrCat("the file ends at byte ", trouble_.truncated_offset,
                     ", before its list of events (\"traceEvents\")"));
  }
  return absl::InvalidArgumentError(
      base::StrCat("JSON, but not a Chrome trace: it has no list of events (\"traceEvents\"); its "
                   "keys are ",
                   keys_.empty() ? "none" : absl::StrJoin(keys_, ", ")));
}

absl::Status TraceReader::Read() {
  absl::Status status = CheckBeginning();
  if (!status.ok()) {
    scanner_.Drain();
    return status;
  }
  if (scanner_.Consume('[')) {
    found_list_ = true;
    ReadList();
  } else {
    scanner_.Drop(1);
    while (!ReadObject() && Recover()) {
      ReadList();
      if (exhausted_) break;
    }
  }
  if (!exhausted_ && !scanner_.at_end()) trouble_.trailing_offset = scanner_.offset();
  scanner_.Drain();
  return found_list_ ? absl::OkStatus() : NoEvents();
}

bool TraceReader::ReadObject() {
  constexpr size_t kShownKeys = 8;
  // Behind a list of events another member follows after a comma.
  bool first = !found_list_;
  bool more = false;
  JsonText key_text;
  for (;;) {
    if (!scanner_.NextMember(first, more, key_text)) return false;
    if (!more) return true;
    const std::string key(scanner_.View(key_text));
    if (keys_.size() < kShownKeys) keys_.push_back(key.substr(0, 64));
    if (key == "traceEvents" && scanner_.Consume('[')) {
      found_list_ = true;
      ReadList();
      if (exhausted_) return true;
    } else if (!ReadFact(scanner_, key, facts_)) {
      return false;
    }
  }
}

void TraceReader::ReadList() {
  for (;;) {
    const char c = scanner_.Peek();
    if (c == '{') {
      if (!ReadListElement()) return;
    } else if (c == ',') {
      scanner_.Drop(1);
    } else if (c == ']') {
      scanner_.Drop(1);
      return;
    } else if (c == '[') {
      // Skipped as one value, a stray bracket would take all further events with it.
      NoteMalformed("an array stands among the events", scanner_.offset());
      scanner_.Drop(1);
    } else if (scanner_.at_end()) {
      exhausted_ = trouble_.truncated = true;
      trouble_.truncated_offset = scanner_.offset();
      return;
    } else {
      scanner_.Pin();
      const bool good = scanner_.SkipValue();
      if (!good && !Recover()) return;
      scanner_.Unpin();
    }
  }
}

bool TraceReader::ReadListElement() {
  scanner_.Pin();
  RawEvent event;
  event.offset = scanner_.offset();
  if (!ReadEvent(scanner_, event)) return Recover();
  if (recovering_ && event.phase == '\0') {
    // An object within the arguments of the broken event.
    exhausted_ = !scanner_.FindEventFromHere();
    return !exhausted_;
  }
  recovering_ = false;
  if (event.phase != '\0') {
    ++events_;
    sink_.Take(event, scanner_);
  }
  scanner_.Unpin();
  return true;
}

void TraceReader::NoteMalformed(const std::string& what, uint64_t offset) {
  if (trouble_.malformed.count == 0) trouble_.malformed_what = what;
  trouble_.malformed.Add(offset);
}

bool TraceReader::Recover() {
  const JsonScanner::Error error = scanner_.error();
  if (error.at_end) {
    exhausted_ = trouble_.truncated = true;
    trouble_.truncated_offset = error.offset;
    return false;
  }
  NoteMalformed(error.what, error.offset);
  recovering_ = true;
  exhausted_ = !scanner_.FindNextEvent();
  if (!exhausted_) found_list_ = true;
  return !exhausted_;
}

}  // namespace nanolane::ingest::kineto
