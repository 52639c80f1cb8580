// Pages and roots are both lists of nodes: what each of some consecutive groups (of a page) or
// pages (of a root) holds, and tables of summed durations by label, for each node and for each 4 or
// 16, 16 or 256, … of them. In bytes:
//
//   version 1 | kind 1 | nodes, varint | events, varint | first start 8 | extent, varint |
//   summed duration, varint | labels: count, then differences | nodes | directory of tables |
//   tables | 8 of zero
//
//   node   gap from the node before (its end; in rows of kLoose its first start) | extent | of
//          which idle | longest: start from the node's, duration, label; where that is an instant,
//          the further labels of the instants at that time, which decide among equals
//   table  labels' numbers, 1, 2 or 4 bytes each, then sums of a fixed 0 … 8 bytes each, which are
//          read without branches; its count and width are in the directory
//
// Rows of kCover have no labels, longest or tables; rows of kLoose have no idle time either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/tiles/label_tally.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

// Summed durations by label, ascending.
using LabelSums = std::vector<std::pair<uint32_t, uint64_t>>;

struct Node {
  int64_t first_ns = 0;
  int64_t last_ns = 0;  // the greatest end
  uint64_t total = 0;   // summed duration; 0 in rows of kLoose
  Longest longest;
};

// What is written of a node.
struct NodeContent {
  Node node;
  std::vector<uint32_t> tied_labels;  // further ones, where the longest is an instant
  LabelSums sums;
};

std::string EncodeNodes(std::span<const NodeContent> nodes, RowKind kind, uint64_t events,
                        uint32_t fanout);

// What a root or page says of itself as a whole, in front of all else.
struct NodesHeader {
  RowKind kind = RowKind::kDisjoint;
  uint64_t nodes = 0;
  uint64_t events = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;  // the greatest end
  uint64_t total = 0;   // summed duration; 0 in rows of kLoose
};

// How a query reads a row's labels: those of the query by those of the row.
struct LabelMap {
  std::span<const uint32_t> query_label_of;
  bool wanted = true;  // false: no labels are read, all come out as 0
};

class NodeList {
 public:
  struct Shape {
    uint32_t node_events;  // in each node but the last
    uint32_t fanout;
    uint32_t max_nodes;
  };
  static constexpr Shape kPage = {kGroupEvents, kGroupFanout, kPageGroups};
  static constexpr Shape kRoot = {kPageEvents, kPageFanout, UINT32_MAX};

  // Decodes the header alone, in O(1).
  static absl::Status DecodeHeader(std::string_view bytes, const Shape& shape, NodesHeader& header);

  // Decodes what lies in front of the tables, into memory that is used again. The bytes must stay
  // while tables are read. Labels come out as those of the query; DATA_LOSS if one has none.
  absl::Status Decode(std::string_view bytes, const Shape& shape, const LabelMap& labels);

  const NodesHeader& header() const { return header_; }
  RowKind kind() const { return header_.kind; }
  uint64_t events() const { return header_.events; }
  size_t size() const { return nodes_.size(); }
  const Node& operator[](size_t i) const { return nodes_[i]; }
  // Events of a node, and of those before it.
  uint64_t EventsOf(size_t i) const {
    return i + 1 < nodes_.size() ? shape_.node_events : events() - EventsBefore(i);
  }
  uint64_t EventsBefore(size_t i) const {
    return i == nodes_.size() ? events() : uint64_t{i} * shape_.node_events;
  }

  // The last node from `from` on that starts before the time; `from` must.
  size_t LastStartingBefore(int64_t time_ns, size_t from) const;

  // Adds what nodes [from, to) hold to the tally: tables and the longest.
  absl::Status AddTo(LabelTally& tally, size_t from, size_t to) const;

 private:
  struct Table {
    uint32_t offset;
    uint32_t count;
    uint8_t sum_bytes;
  };

  static absl::Status ReadHeader(class BytesReader& in, const Shape& shape, NodesHeader& header);
  absl::Status DecodeLabels(class BytesReader& in, const LabelMap& labels);
  absl::Status DecodeNodes(class BytesReader& in);
  absl::Status DecodeDirectory(class BytesReader& in);
  absl::Status AddTable(LabelTally& tally, const Table& table) const;
  template <typename Number>
  absl::Status AddTableOf(LabelTally& tally, const Table& table) const;
  uint32_t QueryLabel(uint64_t number, bool& bad) const;

  Shape shape_ = kPage;
  NodesHeader header_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> labels_;  // the query's, by number
  uint32_t number_bytes_ = 1;
  std::vector<Table> tables_;
  struct Level {
    size_t first_table;
    size_t nodes;  // per table
  };
  std::vector<Level> levels_;
  std::string_view table_bytes_;
};

}  // namespace nanolane::timeline
