// A lane that is sealed step by step into rows in memory, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/timeline/tiles/build_row.h"
#include "libs/timeline/tiles/lane_tiles.h"
#include "libs/timeline/tiles/plan_rows.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/visit_spans.h"

namespace nanolane::timeline {

// Serves a row from memory and notes what was asked for.
class MemoryRow : public RowSource {
 public:
  explicit MemoryRow(const RowBytes& bytes) : bytes_(bytes) {}

  absl::StatusOr<std::string_view> Page(uint32_t page) override {
    pages.push_back(page);
    if (page >= bytes_.pages.size()) return absl::NotFoundError("no such page");
    return bytes_.pages[page];
  }
  absl::StatusOr<std::string_view> Group(uint32_t group) override {
    groups.push_back(group);
    if (group >= bytes_.groups.size()) return absl::NotFoundError("no such group");
    return bytes_.groups[group];
  }

  std::vector<uint32_t> pages;
  std::vector<uint32_t> groups;

 private:
  const RowBytes& bytes_;
};

class TestLane : public SealedCover {
 public:
  struct Row {
    RowKind kind;
    RowRole role;
    RowBytes bytes;
    std::vector<uint32_t> label_of;
  };

  // Seals a step: its events' labels are those of the query, numbered anew in each row.
  absl::Status Seal(std::vector<TileSpan> events) {
    auto plan = PlanRows(std::move(events), *this);
    if (!plan.ok()) return plan.status();
    for (PlannedRow& row : *plan) {
      std::map<uint32_t, uint32_t> number_of;
      std::vector<uint32_t> label_of;
      for (TileSpan& span : row.spans) {
        const auto [at, added] =
            number_of.emplace(span.label, static_cast<uint32_t>(label_of.size()));
        if (added) label_of.push_back(span.label);
        span.label = at->second;
      }
      rows_.push_back({row.kind, row.role, BuildRow(row.spans, row.kind), std::move(label_of)});
    }
    return absl::OkStatus();
  }

  void AddUnsealed(const TileSpan& span) { unsealed_.push_back(span); }

  absl::StatusOr<std::vector<TileColumn>> Columns(const Window& window, uint32_t width,
                                                  const std::vector<Label>& labels) const {
    LaneTiles tiles(window, width);
    return Columns(tiles, window, width, labels);
  }

  // With the memory of an earlier query.
  absl::StatusOr<std::vector<TileColumn>> Columns(LaneTiles& tiles, const Window& window,
                                                  uint32_t width,
                                                  const std::vector<Label>& labels) const {
    tiles.Reset(window, width);
    tiles.AddSpans(unsealed_);
    for (const Row& row : rows_) {
      MemoryRow source(row.bytes);
      if (auto status = tiles.AddRow(row.bytes.root, source, row.role, row.label_of);
          !status.ok()) {
        return status;
      }
    }
    std::vector<TileColumn> columns(width);
    if (auto status = tiles.Finish(labels, columns); !status.ok()) return status;
    return columns;
  }

  std::optional<int64_t> End() override {
    std::optional<int64_t> end;
    for (const Row& row : rows_) {
      if (!row.role.covers) continue;
      const int64_t last = SummaryOf(row.bytes.root)->last_ns;
      end = std::max(end.value_or(last), last);
    }
    return end;
  }

  absl::Status Visit(int64_t from_ns, int64_t to_ns,
                     absl::FunctionRef<void(int64_t, int64_t)> visit) override {
    for (const Row& row : rows_) {
      if (!row.role.covers) continue;
      MemoryRow source(row.bytes);
      auto status = VisitSpans(row.bytes.root, source, {from_ns, to_ns},
                               [&](const TileSpan& span) { visit(span.start_ns, span.end_ns); });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const std::deque<Row>& rows() const { return rows_; }

 private:
  std::deque<Row> rows_;
  std::vector<TileSpan> unsealed_;
};

}  // namespace nanolane::timeline
