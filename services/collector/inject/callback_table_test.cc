#include "services/collector/inject/callback_table.h"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/wire.h"

namespace nanolane::inject {
namespace {

// The names of the header's callback ids, as CUPTI gives them.
std::map<uint32_t, std::string> NamesIn(const std::string& header, const std::string& prefix) {
  std::ifstream file(CUPTI_HEADERS "/" + header);
  REQUIRE(file);
  const std::regex line_of(prefix + R"((\w+)\s*=\s*(\d+),)");
  std::map<uint32_t, std::string> names;
  std::string line;
  while (std::getline(file, line)) {
    std::smatch match;
    if (!std::regex_search(line, match, line_of) || match[1] == "INVALID") continue;
    names[static_cast<uint32_t>(std::stoul(match[2]))] = match[1];
  }
  return names;
}

const std::map<uint32_t, std::string>& RuntimeNames() {
  static const auto names = NamesIn("cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_");
  return names;
}

const std::map<uint32_t, std::string>& DriverNames() {
  static const auto names = NamesIn("cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_");
  return names;
}

// What each name must be, whole and from CUDA's documentation: nothing that only begins alike.
CallClass Expected(const std::string& name) {
  static const std::vector<std::pair<std::regex, CallClass>> kWhole = [] {
    const std::string end = R"((_v\d+)?(_ptsz|_ptds)?(_v\d+)?)";
    const auto call = [&](const std::string& text) {
      return std::regex("(__)?cu(da)?(" + text + ")" + end);
    };
    return std::vector<std::pair<std::regex, CallClass>>{
        {call("Launch|LaunchKernel(Ex|ExC)?|LaunchCooperativeKernel(MultiDevice)?|"
              "LaunchGrid(Async)?"),
         CallClass::kKernelLaunch},
        {call("GraphLaunch"), CallClass::kGraphLaunch},
        {call("Memcpy[A-Za-z0-9]*|Memset[A-Za-z0-9]*"), CallClass::kCopy},
        {call("StreamSynchronize"), CallClass::kStreamSync},
        {call("EventSynchronize"), CallClass::kEventSync},
        {call("CtxSynchronize"), CallClass::kContextSync},
        {call("DeviceSynchronize|ThreadSynchronize"), CallClass::kDeviceSync},
        {call("StreamWaitEvent"), CallClass::kStreamWait},
        {call("EventRecord(WithFlags)?"), CallClass::kEventRecord},
        {call("StreamBeginCapture(ToGraph)?"), CallClass::kCaptureBegin},
        {call("StreamEndCapture"), CallClass::kCaptureEnd},
    };
  }();
  for (const auto& [pattern, call_class] : kWhole) {
    if (std::regex_match(name, pattern)) return call_class;
  }
  return CallClass::kNone;
}

CUptiResult NameOf(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  const auto& names = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? RuntimeNames() : DriverNames();
  const auto found = names.find(id);
  if (found == names.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found->second.c_str();
  return CUPTI_SUCCESS;
}

std::set<std::pair<CUpti_CallbackDomain, uint32_t>> g_enabled;
uint32_t g_fails_for = 0;

CUptiResult EnableCallback(uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                           CUpti_CallbackId id) {
  if (id == g_fails_for) return CUPTI_ERROR_INVALID_PARAMETER;
  if (on != 0) {
    g_enabled.insert({domain, id});
  } else {
    g_enabled.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}

CuptiLibrary FakeLibrary() {
  CuptiLibrary cupti{};
  cupti.get_callback_name = &NameOf;
  cupti.enable_callback = &EnableCallback;
  return cupti;
}

}  // namespace

TEST_CASE("every call that CUPTI's headers name is of the class that it should be") {
  REQUIRE(RuntimeNames().size() > 450);
  REQUIRE(DriverNames().size() > 700);
  std::map<CallClass, int> found;
  for (const auto& names : {RuntimeNames(), DriverNames()}) {
    for (const auto& [id, name] : names) {
      CAPTURE(name);
      CHECK(ClassifyCall(name.c_str()).call_class == Expected(name));
      const bool per_thread =
          name.find("_ptsz") != std::string::npos || name.find("_ptds") != std::string::npos;
      CHECK(ClassifyCall(name.c_str()).per_thread_stream == per_thread);
      ++found[Expected(name)];
      REQUIRE(id < kMaxCallbackIds);
    }
  }
  for (int c = static_cast<int>(CallClass::kKernelLaunch);
       c <= static_cast<int>(CallClass::kCaptureEnd); ++c) {
    CAPTURE(c);
    CHECK(found[static_cast<CallClass>(c)] > 0);
  }
}

TEST_CASE("names without a version, and others' names") {
  CHECK(ClassifyCall("cudaLaunchKernel").call_class == CallClass::kKernelLaunch);
  CHECK(ClassifyCall("__cudaLaunchKernel_ptsz").call_class == CallClass::kKernelLaunch);
  CHECK(ClassifyCall("cuLaunch").call_class == CallClass::kKernelLaunch);
  CHECK(ClassifyCall("cudaLaunch_ptsz").call_class == CallClass::kKernelLaunch);
  CHECK(ClassifyCall("cudaLaunchHostFunc_v10000").call_class == CallClass::kNone);
  CHECK(ClassifyCall("cublasLaunchKernel").call_class == CallClass::kNone);
  CHECK(ClassifyCall("LaunchKernel").call_class == CallClass::kNone);
  CHECK(ClassifyCall("").call_class == CallClass::kNone);
}

TEST_CASE("callbacks go on by what is asked for") {
  const CuptiLibrary cupti = FakeLibrary();
  static CallbackTable table;
  table.Fill(cupti);
  g_enabled.clear();
  g_fails_for = 0;
  const auto has = [](CUpti_CallbackDomain domain, uint32_t id) {
    return g_enabled.count({domain, id}) == 1;
  };

  CHECK(table.Enable(cupti, nullptr, wire::kKindSync) == CUPTI_SUCCESS);
  CHECK(has(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020));
  CHECK(has(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord));
  CHECK_FALSE(has(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));

  CHECK(table.Enable(cupti, nullptr, wire::kKindLaunch) == CUPTI_SUCCESS);
  CHECK(has(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  CHECK(has(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000));

  g_enabled.clear();
  CHECK(table.Enable(cupti, nullptr, wire::kKindNvtx) == CUPTI_SUCCESS);
  CHECK(g_enabled.empty());
  // Device work belongs to a capture by its call, which is listened to for it.
  CHECK(table.Enable(cupti, nullptr, wire::kKindKernel) == CUPTI_SUCCESS);
  CHECK(has(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  g_enabled.clear();
  g_fails_for = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  CHECK(table.Enable(cupti, nullptr, wire::kKindLaunch) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(g_enabled.size() > 1);
}

}  // namespace nanolane::inject
