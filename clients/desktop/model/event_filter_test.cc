// The legend's entries as a filter, and the conditions that are typed.
#include "clients/desktop/model/event_filter.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

std::vector<LegendEntry> Legend(LanguageSet languages = 0) {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  return LegendOf(model, languages);
}

LegendEntry Entry(const std::string& label, LanguageSet languages = 0) {
  for (const LegendEntry& entry : Legend(languages)) {
    if (entry.label == label) return entry;
  }
  FAIL("no entry " << label);
  return {};
}

}  // namespace

TEST_CASE("the legend lists what there is, kernels first") {
  std::vector<std::string> labels;
  for (const LegendEntry& entry : Legend()) labels.push_back(entry.label);
  CHECK(labels ==
        std::vector<std::string>{"kernels", "gemm", "norm, reduce", "H2D", "sync", "NVTX"});
}

TEST_CASE("languages are in the legend where there are stacks") {
  const LanguageSet python = 1U << static_cast<unsigned>(trace::Language::kPython);
  std::vector<std::string> labels;
  for (const LegendEntry& entry : Legend(python | 1U)) labels.push_back(entry.label);
  REQUIRE(labels.size() == 9);
  CHECK(labels[6] == "other frames");
  CHECK(labels[7] == "python");
  CHECK(labels[8] == "no stack");
}

TEST_CASE("a toggle hides an entry, and shows it again") {
  EventFilter filter;
  CHECK_FALSE(filter.active());
  Toggle(Entry("gemm"), filter);
  CHECK(filter.active());
  CHECK_FALSE(filter.ShowsCategory(trace::Category::kGemm));
  CHECK(filter.ShowsCategory(trace::Category::kNormReduce));
  CHECK(ShownOf(filter, Entry("gemm")) == Shown::kNot);
  CHECK(ShownOf(filter, Entry("kernels")) == Shown::kPartly);
  Toggle(Entry("kernels"), filter);  // the rest of them
  CHECK_FALSE(filter.active());
  Toggle(Entry("kernels"), filter);
  CHECK(ShownOf(filter, Entry("norm, reduce")) == Shown::kNot);
  CHECK(ShownOf(filter, Entry("H2D")) == Shown::kWholly);
}

TEST_CASE("alone means without the others of its kind, twice means all") {
  const LanguageSet python = 1U << static_cast<unsigned>(trace::Language::kPython);
  EventFilter filter;
  ShowAlone(Entry("H2D"), filter);
  CHECK(ShownOf(filter, Entry("H2D")) == Shown::kWholly);
  for (const char* other : {"kernels", "sync", "NVTX"}) {
    CHECK(ShownOf(filter, Entry(other)) == Shown::kNot);
  }
  CHECK(filter.ShowsCategory(trace::Category::kMemory));
  CHECK(filter.languages == kEverything);
  ShowAlone(Entry("python", python), filter);
  CHECK(filter.languages == python);
  CHECK(ShownOf(filter, Entry("no stack", python)) == Shown::kNot);
  ShowAlone(Entry("python", python), filter);
  ShowAlone(Entry("H2D"), filter);
  CHECK_FALSE(filter.active());
}

TEST_CASE("bounds and streams are what was typed, or stay as they were") {
  EventFilter filter;
  CHECK(SetBound("10us", filter.least_ns));
  CHECK(filter.least_ns == 10'000);
  CHECK_FALSE(SetBound("10", filter.least_ns));
  CHECK_FALSE(SetBound("-1us", filter.least_ns));
  CHECK(filter.least_ns == 10'000);
  CHECK_FALSE(filter.ShowsDuration(9'999));
  CHECK(filter.ShowsDuration(10'000));
  CHECK(SetBound("", filter.least_ns));
  CHECK_FALSE(filter.active());
  CHECK(SetStreams("7, 14", filter.streams));
  CHECK(filter.ShowsStream(14));
  CHECK_FALSE(filter.ShowsStream(8));
  CHECK_FALSE(SetStreams("7 x", filter.streams));
  CHECK(filter.streams.size() == 2);
  CHECK(SetStreams(" ", filter.streams));
  CHECK(filter.ShowsStream(8));
}

}  // namespace nanolane::desktop
