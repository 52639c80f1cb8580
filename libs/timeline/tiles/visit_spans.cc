#include "libs/timeline/tiles/visit_spans.h"

#include "libs/base/status_macros.h"
#include "libs/timeline/tiles/node_list.h"
#include "libs/timeline/tiles/span_group.h"

namespace nanolane::timeline {

namespace {

bool Overlaps(int64_t start_ns, int64_t end_ns, const Window& window) {
  return start_ns < window.end_ns && (start_ns >= window.start_ns || end_ns > window.start_ns);
}

class SpanVisit {
 public:
  SpanVisit(RowSource& source, const Window& window, absl::FunctionRef<void(const TileSpan&)> visit)
      : source_(source), window_(window), visit_(visit) {}

  absl::Status VisitRoot(std::string_view bytes) {
    RETURN_IF_ERROR(root_.Decode(bytes, NodeList::kRoot, kNoLabels));
    for (size_t i = 0; i < root_.size() && root_[i].first_ns < window_.end_ns; ++i) {
      if (MayOverlap(root_[i])) RETURN_IF_ERROR(VisitPage(i));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr LabelMap kNoLabels = {.query_label_of = {}, .wanted = false};

  // An instant at the window's start may be the node's end.
  bool MayOverlap(const Node& node) const { return node.last_ns >= window_.start_ns; }

  absl::Status VisitPage(size_t page) {
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Page(static_cast<uint32_t>(page)));
    RETURN_IF_ERROR(page_.Decode(bytes, NodeList::kPage, kNoLabels));
    if (page_.events() != root_.EventsOf(page) || page_.kind() != root_.kind()) {
      return BadRow("a page that is not its root's");
    }
    for (size_t i = 0; i < page_.size() && page_[i].first_ns < window_.end_ns; ++i) {
      if (MayOverlap(page_[i])) {
        RETURN_IF_ERROR(VisitGroup(page * kPageGroups + i, page_.EventsOf(i)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VisitGroup(size_t group, size_t events) {
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Group(static_cast<uint32_t>(group)));
    RETURN_IF_ERROR(group_.Decode(bytes, root_.kind(), events));
    for (size_t i = 0; i < group_.count; ++i) {
      if (Overlaps(group_.start_ns[i], group_.EndOf(i), window_)) visit_(group_.At(i));
    }
    return absl::OkStatus();
  }

  RowSource& source_;
  const Window& window_;
  absl::FunctionRef<void(const TileSpan&)> visit_;
  NodeList root_;
  NodeList page_;
  SpanGroup group_;
};

}  // namespace

absl::Status VisitSpans(std::string_view root, RowSource& source, const Window& window,
                        absl::FunctionRef<void(const TileSpan&)> visit) {
  if (window.end_ns <= window.start_ns) return absl::OkStatus();
  return SpanVisit(source, window, visit).VisitRoot(root);
}

}  // namespace nanolane::timeline
