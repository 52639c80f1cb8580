#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <future>
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
