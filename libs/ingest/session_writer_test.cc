#include "libs/ingest/session_writer.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "libs/rpc/channel.h"

namespace nanolane::ingest {
namespace {

namespace store_v1 = nanolane::store::v1;

// A store that acknowledges everything and keeps the appends as they came.
class RecordingStore final : public store_v1::StoreService::Service {
 public:
  RecordingStore() {
    grpc::ServerBuilder builder;
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  grpc::Status Append(grpc::ServerContext* /*context*/,
                      grpc::ServerReaderWriter<store_v1::AppendResponse, store_v1::AppendRequest>*
                          stream) override {
    store_v1::AppendRequest request;
    while (stream->Read(&request)) {
      appends_.push_back(request.SerializeAsString());
      store_v1::AppendResponse response;
      response.set_acknowledged_sequence(request.sequence());
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

  std::shared_ptr<grpc::Channel> channel() { return server_->InProcessChannel({}); }
  const std::vector<std::string>& appends() const { return appends_; }

 private:
  std::vector<std::string> appends_;
  std::unique_ptr<grpc::Server> server_;
};

// Writes events of many lanes that fill alike, so that the buffer's bound cuts lanes of equal size.
std::vector<std::string> AppendsOf(int lanes, int events) {
  RecordingStore store;
  StoreSinkFactory sinks(store.channel(),
                         {.block_events = 64, .buffered_events = 100, .append_bytes = 512});
  nanolane::trace::v1::Session session;
  session.set_session_id("00112233445566778899aabbccddeeff");
  auto sink = sinks.Open(session);
  REQUIRE(sink.ok());
  trace::DictionaryBuilder& dictionary = (*sink)->dictionary();
  const trace::OpId op = dictionary.Intern(
      trace::Op{.kind = trace::EventKind::kKernel, .name = dictionary.Intern("k")});
  for (int i = 0; i < events; ++i) {
    const trace::LaneId lane =
        dictionary.Intern(trace::Lane{.kind = trace::LaneKind::kStream, .stream = i % lanes});
    REQUIRE((*sink)->Add(lane, {.op = op, .start_ns = i * 10, .duration_ns = 5}).ok());
  }
  REQUIRE((*sink)->Finish(session).ok());
  return store.appends();
}

TEST_CASE("the same events make the same appends, whatever hash seed a writer has") {
  const std::vector<std::string> first = AppendsOf(40, 5'000);
  CHECK(first.size() > 10);
  for (int round = 0; round < 5; ++round) CHECK(AppendsOf(40, 5'000) == first);
}

}  // namespace
}  // namespace nanolane::ingest
