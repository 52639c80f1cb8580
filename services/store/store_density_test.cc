// What every store must say of where data lies in time.
#include <random>

#include "services/store/store_contract.h"

namespace nanolane::store {
namespace {

struct Sums {
  uint64_t events = 0;
  uint64_t busy_ns = 0;
  uint64_t losses = 0;
  size_t bins = 0;
};

Sums SumsOf(const v1::GetDensityResponse& response) {
  Sums sums;
  for (const auto& layer : response.layers()) {
    for (const auto& bin : layer.bins()) {
      ++sums.bins;
      sums.losses += bin.losses();
      for (const auto& cell : bin.cells()) {
        sums.events += cell.events();
        sums.busy_ns += cell.busy_ns();
      }
    }
  }
  return sums;
}

v1::GetDensityRequest DensityOf(std::initializer_list<const char*> ids) {
  v1::GetDensityRequest request;
  for (const char* id : ids) request.add_session_ids(id);
  return request;
}

CONTRACT("density counts each event and its time, over many appends and restarts") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::LaneId lane = writer.Stream(7);
  const trace::OpId op = writer.Kernel("k");
  std::mt19937_64 random(3);
  uint64_t busy = 0;
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (int i = 0; i < 30; ++i) {
    std::vector<Event> events;
    for (int j = 0; j < 10; ++j) {
      const auto start = static_cast<int64_t>(random() % 60'000'000'000);
      const auto duration = static_cast<int64_t>(random() % 5'000'000);
      events.push_back({.op = op, .start_ns = start, .duration_ns = duration});
      busy += static_cast<uint64_t>(duration);
      spans.emplace_back(start, duration);
    }
    REQUIRE(writer.Send(subject->store(), writer.Request({writer.Block(lane, events)})).ok());
    if (i % 10 == 5) subject->Reopen();
  }
  const auto whole = subject->store().GetDensity(DensityOf({kSession}));
  REQUIRE(whole.ok());
  CHECK(SumsOf(*whole).events == 300);
  CHECK(SumsOf(*whole).busy_ns == busy);
  for (int i = 0; i < 20; ++i) {
    v1::GetDensityRequest request = DensityOf({kSession});
    const auto from = static_cast<int64_t>(random() % 60'000'000'000);
    request.mutable_window()->set_start_ns(from);
    request.mutable_window()->set_end_ns(from + 1 +
                                         static_cast<int64_t>(random() % 30'000'000'000));
    request.set_max_bins(static_cast<uint32_t>(1 + random() % 300));
    const auto response = subject->store().GetDensity(request);
    REQUIRE(response.ok());
    const auto& layer = response->layers(0);
    CHECK(layer.bins_size() <= static_cast<int>(request.max_bins()));
    for (const auto& bin : layer.bins()) {
      const int64_t left = bin.index() << layer.level();
      const int64_t right = left + (int64_t{1} << layer.level());
      CHECK(right > request.window().start_ns());
      CHECK(left < request.window().end_ns());
      const auto inside = std::count_if(spans.begin(), spans.end(), [&](const auto& span) {
        return left <= span.first && span.first < right;
      });
      CHECK(static_cast<int64_t>(bin.cells(0).events()) == inside);
    }
  }
}

CONTRACT("density of a scope adds up its sessions, each at its Unix time") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  const int64_t offset = int64_t{1'700'000'000} * 1'000'000'000;
  for (const char* id : {kSession, kOther}) {
    Writer writer(id);
    const auto block = writer.Block(writer.Stream(1), {{.op = writer.Kernel("k"), .start_ns = 5}});
    v1::AppendRequest request = writer.Request({block});
    request.mutable_session()->mutable_clock()->set_unix_offset_known(true);
    request.mutable_session()->mutable_clock()->set_unix_offset_ns(
        id == std::string(kOther) ? offset + 3'600'000'000'000 : offset);
    trace::v1::TimedLoss& loss = *request.add_losses();
    loss.set_kind(trace::v1::EVENT_KIND_KERNEL);
    loss.set_count(4);
    loss.set_session_ns(7);
    REQUIRE(writer.Send(subject->store(), request).ok());
  }
  v1::GetDensityRequest request = DensityOf({kSession, kOther, "00000000000000000000000000000000"});
  const auto both = subject->store().GetDensity(request);
  REQUIRE(both.ok());
  CHECK(SumsOf(*both).events == 2);
  CHECK(SumsOf(*both).losses == 8);
  CHECK(SumsOf(*both).bins == 2);
  request.mutable_window()->set_start_ns(offset);
  request.mutable_window()->set_end_ns(offset + 1'000'000'000);
  CHECK(SumsOf(*subject->store().GetDensity(request)).events == 1);
}

CONTRACT("density does not change when a session is sealed, and goes with it") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const auto block = writer.Block(writer.Stream(1),
                                  {{.op = writer.Kernel("k"), .start_ns = 5, .duration_ns = 100}});
  v1::AppendRequest request = writer.Request({block});
  request.mutable_session()->set_ended(true);
  REQUIRE(writer.Send(subject->store(), request).ok());
  const auto before = subject->store().GetDensity(DensityOf({kSession}))->SerializeAsString();
  REQUIRE(subject->SealAll() == 1);
  CHECK(subject->store().GetDensity(DensityOf({kSession}))->SerializeAsString() == before);
  REQUIRE(subject->store().Delete(kSession).ok());
  CHECK(SumsOf(*subject->store().GetDensity(DensityOf({kSession}))).events == 0);
}

CONTRACT("a session too long for the width asked for answers in a layer of its own") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::OpId op = writer.Kernel("k");
  const auto block = writer.Block(
      writer.Stream(1),
      {{.op = op, .start_ns = 0, .duration_ns = int64_t{1} << 50}, {.op = op, .start_ns = 1}});
  REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
  v1::GetDensityRequest request = DensityOf({kSession});
  request.mutable_window()->set_start_ns(0);
  request.mutable_window()->set_end_ns(1'000'000'000);
  const auto response = subject->store().GetDensity(request);
  REQUIRE(response.ok());
  REQUIRE(response->layers_size() == 2);
  CHECK(response->layers(0).bins().empty());
  CHECK(response->layers(1).level() > response->layers(0).level());
  CHECK(response->layers(1).bins(0).cells(0).events() == 2);
}

CONTRACT("one bin is asked for of times before and after 1970: there are two") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  Writer writer;
  const trace::OpId op = writer.Kernel("k");
  const auto block =
      writer.Block(writer.Stream(1), {{.op = op, .start_ns = -5}, {.op = op, .start_ns = 5}});
  REQUIRE(writer.Send(subject->store(), writer.Request({block})).ok());
  v1::GetDensityRequest request = DensityOf({kSession});
  request.set_max_bins(1);
  const auto response = subject->store().GetDensity(request);
  REQUIRE(response.ok());
  CHECK(SumsOf(*response).events == 2);
  CHECK(SumsOf(*response).bins == 2);
}

CONTRACT("bad requests for density are refused") {
  base::FakeClock clock;
  const auto subject = TestType::Make(clock);
  v1::GetDensityRequest empty = DensityOf({});
  CHECK(subject->store().GetDensity(empty).ok());
  empty.mutable_window()->set_start_ns(5);
  empty.mutable_window()->set_end_ns(5);
  CHECK(subject->store().GetDensity(empty).status().code() == absl::StatusCode::kInvalidArgument);
  v1::GetDensityRequest fine = DensityOf({});
  fine.set_max_bins(100'000);
  CHECK(subject->store().GetDensity(fine).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(subject->store().GetDensity(DensityOf({"xyz"})).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nanolane::store
