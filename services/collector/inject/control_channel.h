// The connection to the collector: a Unix SOCK_SEQPACKET socket, one message of wire.h at a time,
// a descriptor beside some.
//
// The process may close descriptors that are not its own, and reuse their numbers: before every use
// the descriptor is checked to be still the socket that was made. The agent's thread alone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "services/collector/inject/wire.h"

namespace nanolane::inject {

// A descriptor that is still what it was when it was taken.
class OwnDescriptor {
 public:
  void Take(int fd);
  // -1: none, or the process has closed or replaced it.
  int get() const;
  // Closes it, if it is still ours.
  void Close();
  int Release();

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

class ControlChannel {
 public:
  // $NANOLANE_SOCKET, else wire::kDefaultSocket. Never blocks. False: nobody is there.
  bool Connect();
  void Close() { socket_.Close(); }
  int fd() const { return socket_.get(); }

  // False: broken, and closed. `descriptor` -1: none.
  bool Send(wire::MessageType type, void* message, size_t bytes, int descriptor = -1);

  enum class Received : uint8_t { kMessage, kNothing, kBroken };
  // A message of at most `room` bytes; `descriptor` is the caller's, -1: none came.
  Received Receive(void* message, size_t room, size_t* bytes, int* descriptor);

 private:
  OwnDescriptor socket_;
};

}  // namespace nanolane::inject
