#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libs/rpc/channel.h"
#include "libs/rpc/server.h"
#include "libs/rpc/status.h"
#include "libs/rpc/worker_pool.h"

namespace nanolane::rpc {
namespace {

TEST_CASE("status codes keep their meaning over gRPC") {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    CHECK(FromGrpc(ToGrpc(status)) == status);
  }
}

TEST_CASE("only loopback and unix addresses may be listened on") {
  for (const char* good :
       {"127.0.0.1:0", "127.8.8.8:7070", "localhost:1", "[::1]:7070", "unix:/tmp/x"}) {
    CAPTURE(good);
    CHECK(CheckLoopback(good).ok());
  }
  for (const char* bad :
       {"0.0.0.0:7070", "[::]:7070", "192.168.1.5:7070", "gpu-07:7070", "7070", ""}) {
    CAPTURE(bad);
    CHECK(CheckLoopback(bad).code() == absl::StatusCode::kInvalidArgument);
  }
  CHECK(Server::Start({.listen = "0.0.0.0:0", .services = {}}).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a server binds a free port, answers, and a second one there is refused") {
  const auto server = Server::Start({.listen = "127.0.0.1:0", .services = {}});
  REQUIRE(server.ok());
  CHECK((*server)->address() != "127.0.0.1:0");
  CHECK(Connect((*server)->address()).ok());
  CHECK(Server::Start({.listen = (*server)->address(), .services = {}}).status().code() ==
        absl::StatusCode::kUnavailable);
}

TEST_CASE("a channel opens before its server is there, and passes no proxy on the way to it") {
  const auto server = Server::Start({.listen = "127.0.0.1:0", .services = {}});
  REQUIRE(server.ok());
  setenv("grpc_proxy", "http://127.0.0.1:1", 1);  // nothing listens there
  setenv("no_grpc_proxy", "elsewhere", 1);
  const auto channel = OpenChannel((*server)->address());
  CHECK(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5)));
  (*server)->Shutdown(std::chrono::milliseconds(0));
  CHECK(OpenChannel((*server)->address()) != nullptr);
  unsetenv("grpc_proxy");
  unsetenv("no_grpc_proxy");
}

// Asks the health service with a message of `bytes` and waits for the answer.
grpc::Status AskHealth(const std::shared_ptr<grpc::Channel>& channel, size_t bytes) {
  // Field 1 is the service's name; an unknown field of the wanted size goes before it.
  std::string message;
  if (bytes > 0) {
    message = "\x7a";  // field 15, bytes
    for (size_t rest = bytes; rest > 0; rest >>= 7) {
      message += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    message += std::string(bytes, 'x');
  }
  const grpc::Slice slice(message);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  SetDeadline(context);
  std::promise<grpc::Status> answered;
  grpc::GenericStub(channel).UnaryCall(
      &context, "/grpc.health.v1.Health/Check", {}, &request, &response,
      [&answered](grpc::Status status) { answered.set_value(std::move(status)); });
  return answered.get_future().get();
}

TEST_CASE("a server whose memory is bounded answers, after more than fits came at once too") {
  const auto server =
      Server::Start({.listen = "127.0.0.1:0", .services = {}, .memory_bytes = 16 << 20});
  REQUIRE(server.ok());
  const std::string address = (*server)->address();
  CHECK(AskHealth(*Connect(address), 0).ok());
  CHECK(AskHealth(*Connect(address), 1 << 20).ok());
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&address] {
      const auto channel = OpenChannel(address);
      // Whether it is answered or turned away, it ends.
      for (int call = 0; call < 4; ++call) (void)AskHealth(channel, 8 << 20);
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(AskHealth(*Connect(address), 0).ok());
}

TEST_CASE("connecting where nothing listens says what to do") {
  std::string address;
  {
    const auto server = Server::Start({.listen = "127.0.0.1:0", .services = {}});
    REQUIRE(server.ok());
    address = (*server)->address();
  }
  const auto channel = Connect(address, std::chrono::milliseconds(50));
  CHECK(channel.status().code() == absl::StatusCode::kUnavailable);
  CHECK(std::string(channel.status().message()).find("nanolane up") != std::string::npos);
}

TEST_CASE("a worker pool refuses what it cannot queue and runs what it took") {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::promise<void> running;
  std::atomic<int> done{0};
  {
    WorkerPool pool(1, 1);
    REQUIRE(pool.TrySubmit([&] {
      running.set_value();
      open.wait();
      ++done;
    }));
    running.get_future().wait();
    CHECK(pool.TrySubmit([&] { ++done; }));
    CHECK_FALSE(pool.TrySubmit([&] { ++done; }));
    gate.set_value();
  }
  CHECK(done == 2);
}

TEST_CASE("a large pool with one task at a time starts one thread") {
  WorkerPool pool(200, 200);
  CHECK(pool.thread_count() == 0);
  for (int i = 0; i < 100; ++i) {
    std::promise<void> done;
    REQUIRE(pool.TrySubmit([&] { done.set_value(); }));
    done.get_future().wait();
    while (pool.busy_count() > 0) std::this_thread::yield();
  }
  CHECK(pool.thread_count() == 1);
}

TEST_CASE(
    "a pool starts as many threads as tasks run at once, and takes no task beyond its bounds") {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> done{0};
  {
    WorkerPool pool(3, 2);
    for (int i = 0; i < 5; ++i) {
      CHECK(pool.TrySubmit([&] {
        open.wait();
        ++done;
      }));
      CHECK(pool.thread_count() == static_cast<size_t>(std::min(i + 1, 3)));
    }
    CHECK_FALSE(pool.TrySubmit([&] { ++done; }));
    gate.set_value();
  }
  CHECK(done == 5);
}

TEST_CASE("what many threads submit at once runs once each, or is refused") {
  std::atomic<int> taken{0};
  std::atomic<int> done{0};
  {
    WorkerPool pool(4, 8);
    std::vector<std::thread> submitters;
    for (int i = 0; i < 4; ++i) {
      submitters.emplace_back([&] {
        for (int task = 0; task < 2'000; ++task) {
          if (pool.TrySubmit([&] { ++done; })) ++taken;
        }
      });
    }
    for (std::thread& submitter : submitters) submitter.join();
    CHECK(pool.thread_count() <= 4);
  }
  CHECK(done == taken);
  CHECK(taken > 0);
}

}  // namespace
}  // namespace nanolane::rpc
