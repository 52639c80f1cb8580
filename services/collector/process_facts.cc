#include "services/collector/process_facts.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <fstream>
#include <sstream>

#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

constexpr size_t kMaxArguments = 1'000;
constexpr size_t kMaxFileBytes = 256 << 10;

// Files of /proc have no size: read to the end, at most kMaxFileBytes.
std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::string ReadLink(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t bytes = readlink(path.c_str(), target.data(), target.size());
  return bytes > 0 ? std::string(target.data(), static_cast<size_t>(bytes)) : std::string();
}

// Names come from processes: protobuf takes valid UTF-8 alone, so other bytes become "?".
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  return text;
}

std::vector<std::string> SplitArguments(const std::string& text) {
  std::vector<std::string> arguments;
  std::istringstream in(text);
  std::string argument;
  while (arguments.size() < kMaxArguments && std::getline(in, argument, '\0')) {
    arguments.push_back(Printable(argument));
  }
  return arguments;
}

std::string UserName(uint32_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return Printable(found->pw_name);
  }
  return base::StrCat(uid);
}

// The 22nd field of stat, counted behind the name in parentheses, which may hold anything.
uint64_t StartTicks(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream in(stat.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) {
    if (!(in >> field)) return 0;
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

int64_t BootUnixNs(const std::string& proc) {
  std::istringstream in(ReadText(proc + "/stat"));
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("btime ", 0) == 0) {
      return static_cast<int64_t>(std::strtoull(line.c_str() + 6, nullptr, 10)) * 1'000'000'000;
    }
  }
  return 0;
}

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// The last run of 64 hexadecimal digits.
std::string FindContainerId(std::string_view path) {
  for (size_t end = path.size(); end >= 64; --end) {
    const std::string_view part = path.substr(end - 64, 64);
    const bool begins = end == 64 || std::isxdigit(static_cast<unsigned char>(path[end - 65])) == 0;
    const bool ends =
        end == path.size() || std::isxdigit(static_cast<unsigned char>(path[end])) == 0;
    if (begins && ends && IsHex(part)) return std::string(part);
  }
  return "";
}

// Behind "pod": a UUID with dashes, or underscores where systemd has dashes for folders.
std::string FindPodUid(std::string_view path) {
  constexpr size_t kUuidBytes = 36;
  for (size_t at = path.find("pod"); at != std::string_view::npos; at = path.find("pod", at + 1)) {
    std::string uid(path.substr(at + 3, kUuidBytes));
    if (uid.size() < kUuidBytes) continue;
    std::replace(uid.begin(), uid.end(), '_', '-');
    bool fits = true;
    for (size_t i = 0; i < uid.size(); ++i) {
      const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
      fits =
          fits && (dash ? uid[i] == '-' : std::isxdigit(static_cast<unsigned char>(uid[i])) != 0);
    }
    if (fits) return uid;
  }
  return "";
}

}  // namespace

ContainerFacts ParseCgroup(std::string_view text) {
  ContainerFacts facts;
  std::istringstream in{std::string(text)};
  std::string line;
  while (std::getline(in, line)) {
    if (facts.pod_uid.empty()) facts.pod_uid = FindPodUid(line);
    if (facts.container_id.empty()) facts.container_id = FindContainerId(line);
  }
  return facts;
}

absl::StatusOr<ProcessFacts> ReadProcessFacts(const std::string& proc, uint64_t pid) {
  const std::string folder = base::StrCat(proc, "/", pid);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    return absl::NotFoundError(base::StrCat("there is no process ", pid));
  }
  ProcessFacts facts;
  facts.pid = pid;
  facts.uid = status.st_uid;
  facts.user = UserName(facts.uid);
  facts.executable = Printable(ReadLink(folder + "/exe"));
  facts.command_line = SplitArguments(ReadText(folder + "/cmdline"));
  const ContainerFacts container = ParseCgroup(ReadText(folder + "/cgroup"));
  facts.container_id = container.container_id;
  facts.pod_uid = container.pod_uid;
  facts.start_ticks = StartTicks(ReadText(folder + "/stat"));
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (ticks_per_second > 0) {
    facts.start_unix_ns = BootUnixNs(proc) + static_cast<int64_t>(facts.start_ticks) *
                                                 (1'000'000'000 / ticks_per_second);
  }
  return facts;
}

bool IsAlive(const std::string& proc, const ProcessFacts& facts) {
  const std::string stat = ReadText(base::StrCat(proc, "/", facts.pid, "/stat"));
  if (stat.empty() || StartTicks(stat) != facts.start_ticks) return false;
  const size_t name_end = stat.rfind(')');
  // One that has ended and is not waited for writes nothing any more.
  const char state = name_end + 2 < stat.size() ? stat[name_end + 2] : '?';
  return state != 'Z' && state != 'X';
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace nanolane::collector
