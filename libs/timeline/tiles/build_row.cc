#include "libs/timeline/tiles/build_row.h"

#include <algorithm>
#include <cassert>

#include "libs/base/status_macros.h"
#include "libs/timeline/tiles/node_list.h"
#include "libs/timeline/tiles/span_group.h"

namespace nanolane::timeline {

namespace {

class RowBuilder {
 public:
  explicit RowBuilder(RowKind kind) : kind_(kind) {}

  RowBytes Build(std::span<const TileSpan> spans) {
    std::vector<NodeContent> pages;
    for (size_t at = 0; at < spans.size(); at += kPageEvents) {
      pages.push_back(
          BuildPage(spans.subspan(at, std::min<size_t>(kPageEvents, spans.size() - at))));
    }
    row_.root = EncodeNodes(pages, kind_, spans.size(), kPageFanout);
    return std::move(row_);
  }

 private:
  NodeContent BuildPage(std::span<const TileSpan> spans) {
    std::vector<NodeContent> groups;
    groups.reserve(kPageGroups);
    for (size_t at = 0; at < spans.size(); at += kGroupEvents) {
      const auto group = spans.subspan(at, std::min<size_t>(kGroupEvents, spans.size() - at));
      row_.groups.push_back(EncodeGroup(group, kind_));
      groups.push_back(ContentOf(group));
    }
    row_.pages.push_back(EncodeNodes(groups, kind_, spans.size(), kGroupFanout));
    return Sum(groups);
  }

  NodeContent ContentOf(std::span<const TileSpan> spans) {
    NodeContent content;
    Node& node = content.node;
    node.first_ns = node.last_ns = spans.front().start_ns;
    for (const TileSpan& span : spans) {
      node.last_ns = std::max(node.last_ns, span.end_ns);
      if (kind_ != RowKind::kLoose) node.total += span.length();
      if (kind_ != RowKind::kDisjoint) continue;
      tally_.Reserve(size_t{span.label} + 1);
      tally_.Add(span.label, span.length());
      tally_.longest.Include({span.length(), span.start_ns, span.label, true});
    }
    if (kind_ != RowKind::kDisjoint) return content;
    node.longest = tally_.longest;
    if (node.longest.length == 0) {
      for (const TileSpan& span : spans) {
        if (span.start_ns == node.first_ns && span.label != node.longest.label) {
          content.tied_labels.push_back(span.label);
        }
      }
      MakeSet(content.tied_labels);
    }
    content.sums = TakeSums();
    return content;
  }

  NodeContent Sum(std::span<const NodeContent> nodes) {
    NodeContent content;
    Node& node = content.node;
    node = nodes.front().node;
    node.total = 0;
    for (const NodeContent& part : nodes) {
      node.last_ns = std::max(node.last_ns, part.node.last_ns);
      node.total += part.node.total;
      node.longest.Include(part.node.longest);
      for (const auto& [label, sum] : part.sums) tally_.Add(label, sum);
    }
    content.sums = TakeSums();
    if (kind_ != RowKind::kDisjoint || node.longest.length > 0) return content;
    for (const NodeContent& part : nodes) {
      if (part.node.first_ns != node.first_ns) break;
      content.tied_labels.push_back(part.node.longest.label);
      content.tied_labels.insert(content.tied_labels.end(), part.tied_labels.begin(),
                                 part.tied_labels.end());
    }
    MakeSet(content.tied_labels);
    return content;
  }

  LabelSums TakeSums() {
    LabelSums sums;
    tally_.Drain([&](uint32_t label, uint64_t sum) { sums.emplace_back(label, sum); });
    std::sort(sums.begin(), sums.end());
    return sums;
  }

  static void MakeSet(std::vector<uint32_t>& labels) {
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  }

  RowKind kind_;
  RowBytes row_;
  LabelTally tally_;
};

}  // namespace

RowBytes BuildRow(std::span<const TileSpan> spans, RowKind kind) {
  assert(!spans.empty());
  return RowBuilder(kind).Build(spans);
}

absl::StatusOr<RowSummary> SummaryOf(std::string_view root) {
  NodesHeader header;
  RETURN_IF_ERROR(NodeList::DecodeHeader(root, NodeList::kRoot, header));
  return RowSummary{.kind = header.kind,
                    .events = header.events,
                    .first_ns = header.first_ns,
                    .last_ns = header.last_ns,
                    .total_ns = header.total};
}

}  // namespace nanolane::timeline
