#include "tests/live_kill/live_node.h"

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <thread>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "tests/support/server_process.h"

namespace nanolane::testing {
namespace {

constexpr std::chrono::milliseconds kBetweenAsks(5);

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

LiveNode::LiveNode(std::vector<std::string> store_flags, int programs, const ProgramShape& shape) {
  std::vector<std::string> arguments = {SiblingBinary("nanolane-store"), "--data", Path("data"),
                                        "--listen", Address("store.sock")};
  arguments.insert(arguments.end(), store_flags.begin(), store_flags.end());
  store_ = std::make_unique<ChildProcess>(ChildProcess::Options{.arguments = std::move(arguments),
                                                                .environment = {},
                                                                .log = Path("store.log"),
                                                                .ready = "listening on"});
  collector_ = std::make_unique<ChildProcess>(ChildProcess::Options{
      .arguments = {SiblingBinary("nanolane-collector"), "--store", Address("store.sock"),
                    "--listen", Address("collector.sock"), "--socket", Path("inject.sock"),
                    "--spool", Path("spool")},
      .environment = {},
      .log = Path("collector.log"),
      .ready = "listening on"});
  ProgramShape own = shape;
  own.stop_file = Path("stop");
  std::ofstream(Path("script")) << ProgramScript(own);
  const std::string library = SiblingBinary("libnanolane_inject.so");
  for (int i = 0; i < programs; ++i) {
    programs_.push_back(std::make_unique<ChildProcess>(ChildProcess::Options{
        .arguments = {SIM_PROGRAM, Path("script"), truth_file(static_cast<size_t>(i))},
        .environment = {"CUDA_INJECTION64_PATH=" + library, "NVTX_INJECTION64_PATH=" + library,
                        "NANOLANE_SOCKET=" + Path("inject.sock")},
        .log = Path(base::StrCat("program", i, ".log")),
        .ready = ""}));
  }
}

std::string LiveNode::truth_file(size_t i) const { return Path(base::StrCat("truth", i)); }

absl::Status LiveNode::Start() {
  RETURN_IF_ERROR(store_->Start(kPatience));
  RETURN_IF_ERROR(collector_->Start(kPatience));
  for (const auto& program : programs_) RETURN_IF_ERROR(program->Start(kPatience));
  return absl::OkStatus();
}

absl::Status LiveNode::AwaitPrograms() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto stub = CollectorStub();
  for (;;) {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    collector::v1::ListProcessesResponse response;
    RETURN_IF_ERROR(rpc::FromGrpc(stub->ListProcesses(&context, {}, &response)));
    size_t known = 0;
    for (const auto& process : response.processes()) known += process.gpus_size() > 0 ? 1 : 0;
    if (known == programs_.size()) return absl::OkStatus();
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::DeadlineExceededError(
          base::StrCat(known, " of ", programs_.size(), " programs have registered"));
    }
    std::this_thread::sleep_for(kBetweenAsks);
  }
}

void LiveNode::StopPrograms() { std::ofstream(Path("stop")) << "now"; }

std::unique_ptr<store::v1::StoreService::Stub> LiveNode::StoreStub() const {
  return store::v1::StoreService::NewStub(NewChannel(Address("store.sock")));
}

std::unique_ptr<collector::v1::CollectorService::Stub> LiveNode::CollectorStub() const {
  return collector::v1::CollectorService::NewStub(NewChannel(Address("collector.sock")));
}

std::string LiveNode::Describe() {
  std::string text;
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context, std::chrono::seconds(2));
    collector::v1::ListCapturesResponse response;
    const auto status = rpc::FromGrpc(CollectorStub()->ListCaptures(&context, {}, &response));
    text += "captures: " + (status.ok() ? response.DebugString() : status.ToString()) + "\n";
  }
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context, std::chrono::seconds(2));
    store::v1::ListSessionsResponse response;
    const auto status = rpc::FromGrpc(StoreStub()->ListSessions(&context, {}, &response));
    text += "sessions: " + (status.ok() ? response.DebugString() : status.ToString()) + "\n";
  }
  text += "store's log:\n" + store_->LogTail() + "collector's log:\n" + collector_->LogTail();
  for (const auto& program : programs_) text += "program's log:\n" + program->LogTail();
  return text;
}

}  // namespace nanolane::testing
