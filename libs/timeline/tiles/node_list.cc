#include "libs/timeline/tiles/node_list.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "libs/timeline/tiles/bytes.h"

namespace nanolane::timeline {

namespace {

constexpr size_t kSlack = 8;  // readable bytes behind the last sum

uint64_t Unsigned(int64_t time_ns) { return static_cast<uint64_t>(time_ns); }

uint32_t NumberBytes(size_t labels) { return labels <= 0x100 ? 1 : labels <= 0x10000 ? 2 : 4; }

// Tables per level: one for each `nodes` of them, as long as that makes several.
template <typename Visit>
void ForEachLevel(size_t nodes, uint32_t fanout, Visit visit) {
  size_t per_table = 1;
  do {
    visit(per_table, (nodes + per_table - 1) / per_table);
    per_table *= fanout;
  } while (per_table < nodes);
}

class NodesEncoder {
 public:
  NodesEncoder(std::span<const NodeContent> nodes, RowKind kind) : nodes_(nodes), kind_(kind) {}

  std::string Encode(uint64_t events, uint32_t fanout) {
    out_.push_back(static_cast<char>(kRowVersion));
    out_.push_back(static_cast<char>(kind_));
    AppendVarint(out_, nodes_.size());
    AppendVarint(out_, events);
    AppendExtent();
    if (kind_ == RowKind::kDisjoint) AppendLabels();
    for (size_t i = 0; i < nodes_.size(); ++i) AppendNode(i);
    if (kind_ == RowKind::kDisjoint) {
      ForEachLevel(nodes_.size(), fanout, [this](size_t per_table, size_t tables) {
        for (size_t i = 0; i < tables; ++i) {
          const size_t from = i * per_table;
          AppendTable(nodes_.subspan(from, std::min(per_table, nodes_.size() - from)));
        }
      });
      out_ += tables_;
      out_.append(kSlack, '\0');
    }
    return std::move(out_);
  }

 private:
  void AppendExtent() {
    const int64_t first_ns = nodes_.front().node.first_ns;
    int64_t last_ns = first_ns;
    uint64_t total = 0;
    for (const NodeContent& node : nodes_) {
      last_ns = std::max(last_ns, node.node.last_ns);
      total += node.node.total;
    }
    trace::AppendLittle(out_, Unsigned(first_ns));
    AppendVarint(out_, Unsigned(last_ns) - Unsigned(first_ns));
    AppendVarint(out_, total);
  }

  void AppendLabels() {
    for (const NodeContent& node : nodes_) {
      for (const auto& [label, sum] : node.sums) labels_.push_back(label);
    }
    std::sort(labels_.begin(), labels_.end());
    labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
    AppendVarint(out_, labels_.size());
    uint64_t next = 0;
    for (const uint32_t label : labels_) {
      AppendVarint(out_, label - next);
      next = uint64_t{label} + 1;
    }
    number_of_.resize(size_t{labels_.back()} + 1);
    for (size_t i = 0; i < labels_.size(); ++i) number_of_[labels_[i]] = static_cast<uint32_t>(i);
    sums_.resize(labels_.size());
    present_.resize(labels_.size());
  }

  void AppendNode(size_t i) {
    const Node& node = nodes_[i].node;
    if (i > 0) {
      const Node& before = nodes_[i - 1].node;
      AppendVarint(out_, Unsigned(node.first_ns) -
                             Unsigned(kind_ == RowKind::kLoose ? before.first_ns : before.last_ns));
    }
    const uint64_t extent = Unsigned(node.last_ns) - Unsigned(node.first_ns);
    AppendVarint(out_, extent);
    if (kind_ != RowKind::kLoose) AppendVarint(out_, extent - node.total);
    if (kind_ != RowKind::kDisjoint) return;
    AppendVarint(out_, Unsigned(node.longest.start_ns) - Unsigned(node.first_ns));
    AppendVarint(out_, node.longest.length);
    AppendVarint(out_, number_of_[node.longest.label]);
    if (node.longest.length > 0) return;
    AppendVarint(out_, nodes_[i].tied_labels.size());
    for (const uint32_t label : nodes_[i].tied_labels) AppendVarint(out_, number_of_[label]);
  }

  // The sum of the nodes' tables: into the directory, and to the tables.
  void AppendTable(std::span<const NodeContent> nodes) {
    uint32_t count = 0;
    uint64_t greatest = 0;
    for (const NodeContent& node : nodes) {
      for (const auto& [label, sum] : node.sums) {
        const uint32_t number = number_of_[label];
        count += present_[number] ? 0 : 1;
        present_[number] = true;
        greatest = std::max(greatest, sums_[number] += sum);
      }
    }
    const auto sum_bytes = static_cast<size_t>((std::bit_width(greatest) + 7) / 8);
    AppendVarint(out_, count);
    out_.push_back(static_cast<char>(sum_bytes));
    for (size_t number = 0; number < present_.size(); ++number) {
      if (present_[number]) Append(number, NumberBytes(labels_.size()));
    }
    for (size_t number = 0; number < present_.size(); ++number) {
      if (present_[number]) Append(sums_[number], sum_bytes);
      sums_[number] = 0;
      present_[number] = false;
    }
  }

  void Append(uint64_t value, size_t bytes) {
    tables_.append(reinterpret_cast<const char*>(&value), bytes);  // little-endian
  }

  std::span<const NodeContent> nodes_;
  RowKind kind_;
  std::string out_;
  std::string tables_;
  std::vector<uint32_t> labels_;
  std::vector<uint32_t> number_of_;  // by label
  std::vector<uint64_t> sums_;       // by number
  std::vector<bool> present_;
};

}  // namespace

std::string EncodeNodes(std::span<const NodeContent> nodes, RowKind kind, uint64_t events,
                        uint32_t fanout) {
  assert(!nodes.empty());
  return NodesEncoder(nodes, kind).Encode(events, fanout);
}

absl::Status NodeList::ReadHeader(BytesReader& in, const Shape& shape, NodesHeader& header) {
  if (in.Byte() != kRowVersion) return BadRow("unknown version of a page or root");
  const uint8_t kind = in.Byte();
  if (kind > static_cast<uint8_t>(RowKind::kLoose)) return BadRow("unknown kind of row");
  header.kind = static_cast<RowKind>(kind);
  header.nodes = in.Varint();
  header.events = in.Varint();
  header.first_ns = static_cast<int64_t>(in.Fixed64());
  header.last_ns = static_cast<int64_t>(Unsigned(header.first_ns) + in.Varint());
  header.total = in.Varint();
  // A node takes a byte at least, so that memory stays in proportion.
  if (!in.ok() || header.nodes == 0 || header.nodes > shape.max_nodes ||
      header.nodes > in.remaining() || header.events == 0 ||
      (header.events - 1) / shape.node_events + 1 != header.nodes ||
      header.events / kGroupEvents >= std::numeric_limits<uint32_t>::max() ||
      header.last_ns < header.first_ns) {
    return BadRow("header of a page or root");
  }
  return absl::OkStatus();
}

absl::Status NodeList::DecodeHeader(std::string_view bytes, const Shape& shape,
                                    NodesHeader& header) {
  BytesReader in(bytes);
  return ReadHeader(in, shape, header);
}

absl::Status NodeList::Decode(std::string_view bytes, const Shape& shape, const LabelMap& labels) {
  BytesReader in(bytes);
  shape_ = shape;
  nodes_.clear();
  labels_.clear();
  tables_.clear();
  levels_.clear();
  table_bytes_ = {};
  absl::Status status = ReadHeader(in, shape, header_);
  if (!status.ok()) return status;
  nodes_.resize(static_cast<size_t>(header_.nodes));
  nodes_.front().first_ns = header_.first_ns;
  if (kind() == RowKind::kDisjoint) status = DecodeLabels(in, labels);
  if (status.ok()) status = DecodeNodes(in);
  if (status.ok() && kind() == RowKind::kDisjoint) status = DecodeDirectory(in);
  if (status.ok() && !in.ok()) status = BadRow("a page or root is cut off");
  if (!status.ok()) nodes_.clear();
  return status;
}

absl::Status NodeList::DecodeLabels(BytesReader& in, const LabelMap& labels) {
  const uint64_t count = in.Varint();
  if (count == 0 || count > in.remaining()) return BadRow("count of labels");
  labels_.resize(static_cast<size_t>(count));
  number_bytes_ = NumberBytes(labels_.size());
  uint64_t next = 0;
  for (uint32_t& label : labels_) {
    const uint64_t found = next + in.Varint();
    if (labels.wanted) {
      if (found >= labels.query_label_of.size()) return BadRow("a label out of range");
      label = labels.query_label_of[static_cast<size_t>(found)];
    }
    next = found + 1;
  }
  return absl::OkStatus();
}

uint32_t NodeList::QueryLabel(uint64_t number, bool& bad) const {
  if (number < labels_.size()) return labels_[static_cast<size_t>(number)];
  bad = true;
  return 0;
}

absl::Status NodeList::DecodeNodes(BytesReader& in) {
  bool bad = false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (i > 0) {
      const int64_t from =
          kind() == RowKind::kLoose ? nodes_[i - 1].first_ns : nodes_[i - 1].last_ns;
      node.first_ns = static_cast<int64_t>(Unsigned(from) + in.Varint());
      bad |= node.first_ns < from;
    }
    const uint64_t extent = in.Varint();
    node.last_ns = static_cast<int64_t>(Unsigned(node.first_ns) + extent);
    bad |= node.last_ns < node.first_ns;
    if (kind() != RowKind::kLoose) node.total = extent - in.Varint();
    if (kind() != RowKind::kDisjoint) continue;
    Longest& longest = node.longest;
    longest.start_ns = static_cast<int64_t>(Unsigned(node.first_ns) + in.Varint());
    longest.length = in.Varint();
    longest.label = QueryLabel(in.Varint(), bad);
    longest.any = true;
    if (longest.length > 0) continue;
    for (uint64_t ties = in.Varint(); ties > 0 && in.ok(); --ties) {
      longest.label = std::min(longest.label, QueryLabel(in.Varint(), bad));
    }
  }
  if (!in.ok() || bad) return BadRow("a page or root does not decode");
  return absl::OkStatus();
}

absl::Status NodeList::DecodeDirectory(BytesReader& in) {
  uint64_t offset = 0;
  bool bad = false;
  ForEachLevel(nodes_.size(), shape_.fanout, [&](size_t per_table, size_t tables) {
    levels_.push_back({.first_table = tables_.size(), .nodes = per_table});
    for (size_t i = 0; i < tables; ++i) {
      const uint64_t count = in.Varint();
      const uint8_t sum_bytes = in.Byte();
      bad |=
          count > labels_.size() || sum_bytes > 8 || offset > std::numeric_limits<uint32_t>::max();
      tables_.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(count), sum_bytes});
      offset += count * (number_bytes_ + sum_bytes);
    }
  });
  if (!in.ok() || bad || in.remaining() != offset + kSlack) return BadRow("directory of tables");
  table_bytes_ = in.Bytes(in.remaining());
  return absl::OkStatus();
}

size_t NodeList::LastStartingBefore(int64_t time_ns, size_t from) const {
  size_t step = 1;
  while (from + step < nodes_.size() && nodes_[from + step].first_ns < time_ns) {
    from += step;
    step *= 2;
  }
  // The answer is in [from, from + step).
  while (step > 1) {
    step /= 2;
    if (from + step < nodes_.size() && nodes_[from + step].first_ns < time_ns) from += step;
  }
  return from;
}

absl::Status NodeList::AddTable(LabelTally& tally, const Table& table) const {
  switch (number_bytes_) {
    case 1: return AddTableOf<uint8_t>(tally, table);
    case 2: return AddTableOf<uint16_t>(tally, table);
    default: return AddTableOf<uint32_t>(tally, table);
  }
}

template <typename Number>
absl::Status NodeList::AddTableOf(LabelTally& tally, const Table& table) const {
  const char* const numbers = table_bytes_.data() + table.offset;
  const char* const sums = numbers + table.count * sizeof(Number);
  const size_t step = table.sum_bytes;
  const uint64_t mask = step == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * step) - 1;
  const std::span<const uint32_t> labels(labels_);
  const auto number = [=](size_t i) {
    return trace::GetLittle<Number>(numbers + i * sizeof(Number));
  };
  bool bad = false;
  for (size_t i = 0; i < table.count; ++i) bad |= number(i) >= labels.size();
  if (bad) return BadRow("a table names a label that it lacks");
  tally.AddMany(
      table.count, [=](size_t i) { return labels[number(i)]; },
      [=](size_t i) { return trace::GetLittle<uint64_t>(sums + i * step) & mask; });
  return absl::OkStatus();
}

absl::Status NodeList::AddTo(LabelTally& tally, size_t from, size_t to) const {
  for (size_t i = from; i < to; ++i) tally.longest.Include(nodes_[i].longest);
  while (from < to) {
    size_t level = 0;
    size_t next = from + 1;
    while (level + 1 < levels_.size() && from % levels_[level + 1].nodes == 0) {
      const size_t end = std::min(from + levels_[level + 1].nodes, nodes_.size());
      if (end > to) break;
      next = end;
      ++level;
    }
    const Table& table = tables_[levels_[level].first_table + from / levels_[level].nodes];
    if (absl::Status status = AddTable(tally, table); !status.ok()) return status;
    from = next;
  }
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
