#include "clients/desktop/model/loss_marks.h"

#include <catch2/catch.hpp>

#include "clients/desktop/testing/lane_bench.h"

namespace nanolane::desktop {
namespace {

using trace::EventKind;

SessionBuilder WithLosses(const std::vector<trace::Loss>& losses) {
  SessionBuilder builder = SmallSession();
  for (const trace::Loss& loss : losses) {
    trace::v1::Loss& sent = *builder.session().add_losses();
    sent.set_kind(static_cast<trace::v1::EventKind>(loss.kind));
    sent.set_reason(loss.reason);
    sent.set_count(loss.count);
  }
  return builder;
}

std::string LabelOf(const LaneBench& bench, const LossMark& mark) {
  return bench.viewer.layout().rows()[mark.row].label;
}

}  // namespace

TEST_CASE("a loss is marked on the only lane that can have held it, else on the header") {
  LaneBench bench;
  bench.Load(WithLosses({{EventKind::kSync, "buffer full", 3},
                         {EventKind::kKernel, "buffer full", 312},  // there are two streams
                         {EventKind::kUnspecified, "the agent fell behind", 1},
                         {EventKind::kSync, "late", 1},
                         {EventKind::kApi, "none", 0}}));
  const std::vector<LossMark>& marks = bench.viewer.loss_marks();
  REQUIRE(marks.size() == 2);
  CHECK(LabelOf(bench, marks[0]) == "python3 · 4121");
  CHECK(marks[0].count == 313);
  CHECK(marks[0].lines ==
        std::vector<std::string>{"312 kernels: buffer full", "1 event: the agent fell behind"});
  CHECK(LabelOf(bench, marks[1]) == "Stream 7 (sync)");
  CHECK(marks[1].lines ==
        std::vector<std::string>{"3 synchronizations: buffer full", "1 synchronization: late"});
  CHECK(marks[1].stretches.empty());
}

TEST_CASE("the mark at a label says how many were lost and why") {
  LaneBench bench;
  bench.Load(WithLosses({{EventKind::kSync, "buffer full", 3}, {EventKind::kKernel, "x", 2}}));
  const LaneBlock& block = *bench.Block("Stream 7 (sync)");
  const Rect mark =
      BoxesOf(bench.viewer.screen(), bench.viewer.layout(), block, 0, false, true).loss;
  bench.MoveTo({mark.x + 6, mark.y + 6});
  REQUIRE(bench.viewer.loss_hover().has_value());
  CHECK(bench.viewer.loss_hover()->title == "3 lost");
  CHECK(bench.viewer.loss_hover()->lines[0] == "3 synchronizations: buffer full");
  const Rect header = HeaderLossBox(bench.viewer.screen(), bench.viewer.screen().lanes.y);
  bench.MoveTo({header.x + 6, header.y + 6});
  REQUIRE(bench.viewer.loss_hover().has_value());
  CHECK(bench.viewer.loss_hover()->lines[0] == "2 kernels: x");
  bench.MoveTo({mark.x - 60, mark.y + 6});
  CHECK_FALSE(bench.viewer.loss_hover().has_value());
}

TEST_CASE("losses of a running session are marked where they were seen to grow") {
  LaneBench bench;
  std::vector<LoaderMessage> messages =
      LoaderMessages(WithLosses({{EventKind::kSync, "buffer full", 3}}));
  messages.pop_back();
  std::get<StreamOpened>(messages[0]).live = true;
  SessionFacts facts = std::get<StreamOpened>(messages[0]).sessions[0];
  messages.push_back(StepEnded{.session = facts, .caught_up = true});
  bench.Apply(std::move(messages));
  CHECK(bench.model.seen_losses().empty());  // when that was is not known
  const int64_t end = facts.end_ns;
  const auto step = [&](int64_t until, uint64_t lost) {
    facts.end_ns = until;
    facts.losses[0].count = lost;
    bench.model.Apply(StepEnded{.session = facts, .caught_up = true});
  };
  step(end + 1'000'000, 3);
  step(end + 2'000'000, 5);
  step(end + 3'000'000, 9);  // goes on
  step(end + 4'000'000, 9);
  step(end + 5'000'000, 10);
  REQUIRE(bench.model.seen_losses().size() == 2);
  CHECK(bench.model.seen_losses()[0].loss.count == 6);
  CHECK(bench.model.seen_losses()[0].when.start_ns == end + 1'000'000);
  CHECK(bench.model.seen_losses()[0].when.end_ns == end + 3'000'000);
  CHECK(bench.model.seen_losses()[1].when.start_ns == end + 4'000'000);
  bench.Settle();
  const LossMark& mark = bench.viewer.loss_marks().at(0);
  CHECK(LabelOf(bench, mark) == "Stream 7 (sync)");
  REQUIRE(mark.stretches.size() == 2);
  // The card over the lanes, and none beside the stretch.
  const Rect& lanes = bench.viewer.screen().lanes;
  const auto point = [&](int64_t time_ns) {
    return Point{lanes.x + PixelOf(bench.viewer.viewport().shown(), lanes.width, time_ns),
                 lanes.y + bench.Block("Stream 7 (sync)")->y + 12};
  };
  bench.MoveTo(point(end + 2'000'000));
  REQUIRE(bench.viewer.loss_hover().has_value());
  CHECK(bench.viewer.loss_hover()->lines[0] == "6 synchronizations: buffer full");
  bench.MoveTo(point(end - 20'000'000));
  CHECK_FALSE(bench.viewer.loss_hover().has_value());
}

}  // namespace nanolane::desktop
