// Ends the server with SIGKILL at a moment that is counted, not timed: after so many appends were
// sent or acknowledged, when a deletion is on its way, when a seal was seen, or after so many files
// appeared, moved or went in its data folder, which is where flushes, seals and starts have their
// steps; then, if asked for, after so many further changes of files there, which is how writes
// show. Thread-safe; Arm and Disarm by turns from one thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <thread>

namespace nanolane::testing {

enum class KillAt { kSend, kAcknowledgement, kEnd, kDeletion, kSeal, kFile };
inline constexpr int kKillAtCount = 6;
const char* ToString(KillAt at);

class Killer {
 public:
  Killer() = default;
  ~Killer() { Disarm(); }
  Killer(const Killer&) = delete;

  struct Moment {
    KillAt at = KillAt::kSend;
    int count = 1;    // kills at the so-manieth of these events
    int further = 0;  // and so many changes of files after it
  };

  // `folder` is watched; it is there.
  void Arm(pid_t pid, const Moment& moment, const std::string& folder);
  // Something happened. The killing event itself returns after the kill.
  void Saw(KillAt what);
  void Fire();
  // Nothing is killed once this returns.
  void Disarm();
  bool fired() const { return fired_; }

 private:
  void Watch(int notify);
  void SawChange();

  std::atomic<bool> armed_ = false;
  std::atomic<bool> fired_ = false;
  std::atomic<int> left_ = 0;
  std::atomic<int> further_left_ = 0;
  pid_t pid_ = -1;
  KillAt at_ = KillAt::kSend;
  int stop_ = -1;  // an eventfd that ends the watching thread
  std::thread watcher_;
};

}  // namespace nanolane::testing
