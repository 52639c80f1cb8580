#include "services/collector/capture_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "libs/base/log.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".capture";

constexpr std::string_view kAsked = " asked";

// The ticks in a line of their own, with kAsked where the capture has not begun, then the session's
// bytes.
bool Parse(const std::string& text, CaptureJournal::Entry& entry) {
  const size_t line = text.find('\n');
  if (line == std::string::npos) return false;
  std::string_view ticks = std::string_view(text).substr(0, line);
  entry.has_begun = !ticks.ends_with(kAsked);
  if (!entry.has_begun) ticks.remove_suffix(kAsked.size());
  return absl::SimpleAtoi(base::ToAbsl(ticks), &entry.start_ticks) &&
         entry.session.ParseFromString(text.substr(line + 1)) &&
         !entry.session.session_id().empty();
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return ::fsync(fd) == 0;
}

}  // namespace

std::string CaptureJournal::PathOf(const std::string& session_id) const {
  return base::StrCat(folder_, "/", session_id, kSuffix);
}

absl::Status CaptureJournal::Write(const Entry& entry) {
  const std::string path = PathOf(entry.session.session_id());
  const std::string unfinished = path + ".new";
  const int fd =
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool written =
      fd >= 0 && WriteAll(fd, base::StrCat(entry.start_ticks, entry.has_begun ? "" : kAsked, "\n",
                                           entry.session.SerializeAsString()));
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (written && ::rename(unfinished.c_str(), path.c_str()) == 0) return absl::OkStatus();
  ::unlink(unfinished.c_str());
  return absl::InternalError(base::StrCat("cannot write ", path, ": ", std::strerror(error)));
}

void CaptureJournal::Remove(const std::string& session_id) { ::unlink(PathOf(session_id).c_str()); }

std::vector<CaptureJournal::Entry> CaptureJournal::Read() {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder_, error)) {
    const std::string path = file.path().string();
    if (!std::string_view(path).ends_with(kSuffix)) continue;
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    Entry entry;
    if (Parse(text.str(), entry)) {
      entries.push_back(std::move(entry));
    } else {
      base::LogWarning("collector", base::StrCat("deleted, because it says nothing: ", path));
      ::unlink(path.c_str());
    }
  }
  return entries;
}

}  // namespace nanolane::collector
