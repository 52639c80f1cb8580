#include "tests/simulated_gpu/program/truth.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace nanolane::sim {
namespace {

constexpr size_t kFlushAt = 8192;

thread_local std::vector<Deed> deeds_of_thread;

// Names are the script's own; what JSON needs escaped is left out of them.
std::string Escaped(const char* text) {
  std::string escaped;
  for (const char* c = text; *c != 0; ++c) {
    if (*c == '"' || *c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(*c) >= 0x20) escaped += *c;
  }
  return escaped;
}

}  // namespace

std::unique_ptr<Truth> Truth::Create(const std::string& path) {
  std::FILE* file = nullptr;
  if (!path.empty()) {
    file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return nullptr;
  }
  return std::unique_ptr<Truth>(new Truth(file));
}

Truth::~Truth() {
  Flush();
  if (file_ != nullptr) std::fclose(file_);
}

void Truth::Add(const Deed& deed) {
  if (file_ == nullptr) return;
  deeds_of_thread.push_back(deed);
  if (deeds_of_thread.size() >= kFlushAt) Flush();
}

void Truth::Flush() {
  if (file_ == nullptr) return;
  const auto thread = static_cast<long>(syscall(SYS_gettid));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Deed& deed : deeds_of_thread) {
    std::fprintf(file_,
                 "{\"call\":\"%s\",\"before\":%lld,\"after\":%lld,\"thread\":%ld,\"name\":\"%s\","
                 "\"correlation\":%u,\"device\":%d,\"stream\":%lld,\"bytes\":%llu,\"result\":%d,"
                 "\"count\":%llu,\"domain\":\"%s\"}\n",
                 deed.call, static_cast<long long>(deed.before_ns),
                 static_cast<long long>(deed.after_ns), thread, Escaped(deed.name).c_str(),
                 deed.correlation, deed.device, static_cast<long long>(deed.stream),
                 static_cast<unsigned long long>(deed.bytes), deed.result,
                 static_cast<unsigned long long>(deed.count), Escaped(deed.domain).c_str());
  }
  deeds_of_thread.clear();
  std::fflush(file_);
}

int Truth::Fork() {
  Flush();
  const std::lock_guard<std::mutex> lock(mutex_);
  const int child = fork();
  if (child == 0) file_ = nullptr;
  return child;
}

const char* Lasting(const std::string& text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return texts->insert(text).first->c_str();
}

}  // namespace nanolane::sim
