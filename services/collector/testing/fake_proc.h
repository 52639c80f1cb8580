// A folder that is laid out like /proc, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "libs/base/str_cat.h"
#include "tests/support/temp_folder.h"

namespace nanolane::collector {

class FakeProc {
 public:
  static constexpr uint64_t kBootUnixS = 1'700'000'000;

  FakeProc() { Write("stat", base::StrCat("cpu 1 2 3\nbtime ", kBootUnixS, "\nprocesses 5\n")); }

  const std::string& path() const { return folder_.path(); }

  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  void WriteStat(uint64_t pid, const std::string& name, char state, uint64_t start_ticks) const {
    std::string text = base::StrCat(pid, " (", name, ") ", std::string(1, state));
    for (int field = 4; field <= 21; ++field) text += base::StrCat(" ", field);
    Write(base::StrCat(pid, "/stat"), base::StrCat(text, " ", start_ticks, " 99 98 97\n"));
  }
  void AddProcess(uint64_t pid, const std::string& executable, const std::string& command_line,
                  uint64_t start_ticks = 500) const {
    WriteStat(pid, "python", 'S', start_ticks);
    Write(base::StrCat(pid, "/cmdline"), command_line);
    std::filesystem::create_symlink(executable, base::StrCat(path(), "/", pid, "/exe"));
  }
  void Remove(uint64_t pid) const { std::filesystem::remove_all(base::StrCat(path(), "/", pid)); }

 private:
  const testing::TempFolder folder_;
};

}  // namespace nanolane::collector
