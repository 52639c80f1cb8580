// A node of the live kill test: a store, a collector and programs with the injection library, each
// a process of its own, in one temporary folder. Thread-compatible, but for what says otherwise.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "nanolane/collector/v1/collector.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "tests/live_kill/child_process.h"
#include "tests/live_kill/program_truth.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {

// Whatever is waited for comes within this time, or the round has failed.
inline constexpr std::chrono::seconds kPatience(30);

class LiveNode {
 public:
  LiveNode(std::vector<std::string> store_flags, int programs, const ProgramShape& shape);

  absl::Status Start();
  // Waits until the collector knows every program and its GPUs.
  absl::Status AwaitPrograms();
  // Programs leave their loops once this was called.
  void StopPrograms();

  ChildProcess& store() { return *store_; }
  ChildProcess& collector() { return *collector_; }
  ChildProcess& program(size_t i) { return *programs_[i]; }
  size_t programs() const { return programs_.size(); }
  std::string truth_file(size_t i) const;

  // New connections, which have not waited for a server that had gone. Thread-safe.
  std::unique_ptr<store::v1::StoreService::Stub> StoreStub() const;
  std::unique_ptr<collector::v1::CollectorService::Stub> CollectorStub() const;

  // Statuses of captures, sessions and logs, for whoever reads of a failure.
  std::string Describe();

 private:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Address(const std::string& name) const { return "unix:" + Path(name); }

  TempFolder folder_;
  std::unique_ptr<ChildProcess> store_;
  std::unique_ptr<ChildProcess> collector_;
  std::vector<std::unique_ptr<ChildProcess>> programs_;
};

}  // namespace nanolane::testing
