#include "services/collector/inject/launch_calls.h"

#include <cstdint>
#include <thread>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

// A launch whose stream its parameters do not tell: nothing is asked of the driver.
constexpr auto kLaunch = CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid;

CUptiResult NameOf(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id != kLaunch) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = "cuLaunchGrid";
  return CUPTI_SUCCESS;
}

void Prepare() {
  static CuptiLibrary cupti{};
  static CallbackTable table;
  cupti.get_callback_name = &NameOf;
  table.Fill(cupti);
  PrepareLaunchCalls(cupti, table);
}

void Call(CUpti_ApiCallbackSite site, uint32_t correlation) {
  CUpti_CallbackData call{};
  call.callbackSite = site;
  call.correlationId = correlation;
  OnApiCall(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, kLaunch, &call);
}

void Launch(uint32_t correlation) {
  Call(CUPTI_API_ENTER, correlation);
  Call(CUPTI_API_EXIT, correlation);
}

}  // namespace

TEST_CASE("launches are taken from where the capture begins, and those before are known as early") {
  OpenCapture capture({.begun = false});
  const uint64_t number = capture.ring().number();
  Prepare();
  Launch(5);
  Call(CUPTI_API_ENTER, 6);
  capture.Begin();
  // Began before, ended after.
  Call(CUPTI_API_EXIT, 6);
  CHECK(FirstCorrelation() == 0);
  CHECK(LastCorrelation() == 0);
  CHECK(KernelLaunches(number) == 0);
  CHECK(WasEarly(5));
  CHECK(WasEarly(6));
  Launch(7);
  Launch(8);
  // The inner call of an early one.
  Launch(6);
  CHECK_FALSE(WasEarly(7));
  CHECK(FirstCorrelation() == 7);
  CHECK(LastCorrelation() == 8);
  CHECK(KernelLaunches(number) == 2);
  const auto launches = capture.Read().Of<wire::LaunchRecord>(wire::RecordType::kLaunch);
  REQUIRE(launches.size() == 2);
  for (size_t i = 0; i < 2; ++i) CHECK(launches[i]->correlation == 7 + i);
  CHECK(launches[0]->start_ns >= capture.on_ns());
}

TEST_CASE("calls are known to be under way, within a capture or not") {
  Prepare();
  const int64_t begin = MonotonicNs();
  CHECK(LongestCallUnderWay(begin) == 0);
  // The end of one whose beginning was not told.
  Call(CUPTI_API_EXIT, 3);
  CHECK(LongestCallUnderWay(MonotonicNs()) == 0);
  Call(CUPTI_API_ENTER, 4);
  {
    OpenCapture capture({.begun = false});
    // Nested: the runtime's call and the driver's.
    Call(CUPTI_API_ENTER, 4);
    Call(CUPTI_API_EXIT, 4);
    const int64_t longest = LongestCallUnderWay(begin + 1'000'000'000);
    CHECK(longest > 0);
    CHECK(longest <= 1'000'000'000);
  }
  std::thread other([begin] {
    Launch(5);
    CHECK(LongestCallUnderWay(begin + 1'000'000'000) > 0);
    Call(CUPTI_API_ENTER, 6);
    // It ends within its call.
  });
  other.join();
  Call(CUPTI_API_EXIT, 4);
  CHECK(LongestCallUnderWay(MonotonicNs() + 1'000) == 0);
  Call(CUPTI_API_ENTER, 7);
  CHECK(LongestCallUnderWay(MonotonicNs() + 1'000) > 0);
  ForgetCallsUnderWay();
  CHECK(LongestCallUnderWay(MonotonicNs() + 1'000) == 0);
}

TEST_CASE("a capture takes no launches after its deadline, though nobody has closed it") {
  OpenCapture capture({.begun = false});
  Prepare();
  const int64_t on = MonotonicNs();
  BeginCapture(on, on);
  Launch(5);
  CHECK(CaptureIsOn());
  CHECK(FirstCorrelation() == 0);
  CHECK(LastCorrelation() == 0);
  CHECK(KernelLaunches(capture.ring().number()) == 0);
  CHECK(capture.Read().records.empty());
}

}  // namespace nanolane::inject
