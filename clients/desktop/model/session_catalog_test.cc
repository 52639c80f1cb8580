#include "clients/desktop/model/session_catalog.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_format.h"
#include "clients/desktop/model/scope_link.h"
#include "clients/desktop/testing/fake_query_service.h"
#include "clients/desktop/testing/signal.h"
#include "libs/base/clock.h"

namespace nanolane::desktop {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

trace::v1::SessionSummary Listed(int number, uint64_t events = 10) {
  trace::v1::SessionSummary summary;
  summary.mutable_session()->set_session_id(absl::StrFormat("%032x", number));
  summary.mutable_session()->set_ended(true);
  summary.set_events(events);
  return summary;
}

// Waits for one change after the other until `done`.
template <typename Done>
void Await(Signals& changes, const Done& done) {
  while (!done()) changes.Take();
}

}  // namespace

TEST_CASE("the catalog has every page of the list") {
  FakeQueryService service;
  for (int i = 0; i < 2'100; ++i) service.Serve(Listed(i), {});
  Signals changes;
  SessionCatalog catalog(service.channel(), {.eager = hours(1), .calm = hours(1), .on_change = [&] {
                                               changes.Add();
                                             }});
  Await(changes, [&] { return catalog.sessions()->version > 0; });
  REQUIRE(catalog.sessions()->sessions.size() == 2'100);
  CHECK(catalog.sessions()->sessions.back().id == absl::StrFormat("%032x", 2'099));
  CHECK(service.listings() == 3);
}

TEST_CASE("the list is read again while somebody looks at it, and the old one stays until then") {
  FakeQueryService service;
  service.Serve(Listed(1), {});
  Signals changes;
  SessionCatalog catalog(
      service.channel(),
      {.eager = nanoseconds(1), .calm = hours(1), .on_change = [&] { changes.Add(); }});
  Await(changes, [&] { return catalog.sessions()->version > 0; });
  const auto before = catalog.sessions();
  service.Serve(Listed(2), {});
  Await(changes, [&] { return catalog.sessions()->sessions.size() == 2; });
  CHECK(before->sessions.size() == 1);
}

TEST_CASE("nobody looks: the list is read once, and again as soon as somebody does") {
  FakeQueryService service;
  service.Serve(Listed(1), {});
  Signals changes;
  SessionCatalog catalog(
      service.channel(),
      {.eager = nanoseconds(1), .calm = hours(1), .on_change = [&] { changes.Add(); }});
  catalog.SetEager(false);
  Await(changes, [&] { return catalog.sessions()->version > 0; });
  const uint64_t calm = catalog.sessions()->version;
  catalog.SetEager(true);
  Await(changes, [&] { return catalog.sessions()->version > calm; });
}

TEST_CASE("a failed reading keeps the list, says why, and is tried again") {
  FakeQueryService service;
  service.Serve(Listed(1), {});
  std::atomic<int> readings = 0;
  service.set_before_list([&] {
    return ++readings == 2 ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the store is away")
                           : grpc::Status::OK;
  });
  Signals changes;
  base::Mutex mutex;
  std::vector<std::shared_ptr<const CatalogSnapshot>> seen;
  SessionCatalog* self = nullptr;
  Signal stands;
  SessionCatalog catalog(
      service.channel(),
      {.eager = nanoseconds(1), .calm = hours(1), .first_pause = nanoseconds(1), .on_change = [&] {
         stands.Wait();
         base::MutexLock lock(mutex);
         seen.push_back(self->sessions());
         changes.Add();
       }});
  self = &catalog;
  stands.Set();
  Await(changes, [&] {
    base::MutexLock lock(mutex);
    return seen.size() >= 3;
  });
  base::MutexLock lock(mutex);
  CHECK(seen[0]->failure.ok());
  CHECK(std::string(seen[1]->failure.message()) == "the store is away");
  CHECK(seen[1]->sessions.size() == 1);
  CHECK(seen[2]->failure.ok());
}

TEST_CASE("the newest question for density is answered, and equal ones are asked once") {
  FakeQueryService service;
  std::atomic<int> asked = 0;
  service.set_density([&](const query::v1::GetDensityRequest& request) {
    ++asked;
    query::v1::GetDensityResponse response;
    auto& layer = *response.add_layers();
    layer.set_level(20);
    auto& bin = *layer.add_bins();
    bin.set_index(request.window().start_ns());
    bin.set_losses(3);
    auto& kernels = *bin.add_cells();
    kernels.set_kind(trace::v1::EVENT_KIND_KERNEL);
    kernels.set_events(5);
    kernels.set_busy_ns(700);
    auto& ranges = *bin.add_cells();
    ranges.set_kind(trace::v1::EVENT_KIND_NVTX);
    ranges.set_events(2);
    ranges.set_busy_ns(9'000);
    return response;
  });
  Signals changes;
  SessionCatalog catalog(service.channel(), {.eager = hours(1), .calm = hours(1), .on_change = [&] {
                                               changes.Add();
                                             }});
  CHECK(catalog.density() == nullptr);
  const DensityQuestion question{.session_ids = {"a"}, .window = {7, 9}, .bins = 64, .events = 1};
  catalog.Ask(question);
  Await(changes, [&] { return catalog.density() != nullptr; });
  catalog.Ask(question);
  const auto first = catalog.density();
  REQUIRE(first->layers.size() == 1);
  const DensityBin& bin = first->layers[0].bins[0];
  CHECK(bin.index == 7);
  CHECK(bin.events == 7);     // of all kinds
  CHECK(bin.busy_ns == 700);  // of devices
  CHECK(bin.losses == 3);
  DensityQuestion grown = question;
  grown.events = 2;
  catalog.Ask(grown);
  Await(changes, [&] { return catalog.density() != first; });
  CHECK(asked == 2);
  CHECK(catalog.density()->question == grown);
}

TEST_CASE("going away does not wait for a server that does not answer") {
  FakeQueryService service;
  Signal asked;
  Signal release;
  service.set_before_list([&] {
    asked.Set();
    release.Wait();
    return grpc::Status::OK;
  });
  {
    SessionCatalog catalog(service.channel(), {});
    asked.Wait();
  }
  release.Set();
  service.Stop();  // the hook looks at what lives here
}

TEST_CASE("a choice changes what is shown, and the strip's question covers the new scope") {
  FakeQueryService service;
  SessionBuilder small = SmallSession();
  small.session().set_ended(true);
  small.session().set_project("one");
  service.Serve(small, 10);
  SessionBuilder large = LargeSession(2, 100);
  large.session().set_ended(true);
  large.session().set_project("two");
  service.Serve(large, 10);
  base::FakeClock clock(1);
  Signals changes;
  SessionCatalog catalog(service.channel(), {.eager = hours(1), .calm = hours(1), .on_change = [&] {
                                               changes.Add();
                                             }});
  TimelineFeed feed([&] { return service.channel(); }, {.server = service.address()}, clock);
  feed.PumpUntilLoaded();
  Await(changes, [&] { return catalog.sessions()->version > 0; });
  Viewer viewer({});
  ScopeDesk desk;
  ScopeLink link(catalog, feed, viewer, desk);
  int64_t now_ns = 0;
  const auto frame = [&](const Input& input) {
    const Input rest = link.BeforeStep(input, 1);
    viewer.Step(feed.loaded(), rest, 1'600, 900, 0.016, now_ns += 16'000'000);
    link.AfterFrame(false);
  };
  Input none;
  frame(none);
  CHECK(desk.scope().project == std::string("one"));
  desk.TogglePicker(ScopePart::kProject);
  desk.picker().text() = "two";
  frame(none);
  Input enter;
  enter.pressed[static_cast<size_t>(Key::kEnter)] = 1;
  frame(enter);
  CHECK_FALSE(desk.picker().open());
  CHECK(feed.loaded().attempt.opening == std::string(32, 'b'));
  while (!feed.loaded().attempt.opening.empty()) feed.Pump(1);
  feed.PumpUntilLoaded();
  frame(none);
  CHECK(feed.model().sessions().front().id == std::string(32, 'b'));
  CHECK(desk.scope().project == std::string("two"));
  const auto question = desk.Question(1'000);
  REQUIRE(question.has_value());
  CHECK(question->session_ids == std::vector<std::string>{std::string(32, 'b')});
  // The view is the new session's own.
  CHECK(viewer.viewport().shown().end_ns >= feed.model().extent().end_ns);
  CHECK_FALSE(viewer.viewport().can_go_back());
}

}  // namespace nanolane::desktop
