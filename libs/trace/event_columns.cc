#include "libs/trace/event_columns.h"

#include <algorithm>
#include <numeric>

namespace nanolane::trace {
namespace {

template <typename T>
void Permute(const std::vector<size_t>& order, std::vector<T>& column) {
  if (column.empty()) return;
  std::vector<T> sorted;
  sorted.reserve(column.size());
  for (const size_t at : order) sorted.push_back(column[at]);
  column = std::move(sorted);
}

template <typename T>
T ValueOr(const std::vector<T>& column, size_t index, T fallback) {
  return column.empty() ? fallback : column[index];
}

}  // namespace

void EventColumns::clear() { *this = EventColumns(); }

void EventColumns::reserve(size_t count) {
  op.reserve(count);
  start_ns.reserve(count);
  duration_ns.reserve(count);
  launch_start_ns.reserve(count);
  launch_duration_ns.reserve(count);
  stack.reserve(count);
  thread.reserve(count);
  correlation.reserve(count);
  graph_node.reserve(count);
  bytes.reserve(count);
  address.reserve(count);
  pool.reserve(count);
  level_bytes.reserve(count);
  reserved_bytes.reserve(count);
}

void EventColumns::Add(const Event& event) {
  op.push_back(event.op);
  start_ns.push_back(event.start_ns);
  duration_ns.push_back(event.duration_ns);
  launch_start_ns.push_back(event.launch_start_ns);
  launch_duration_ns.push_back(event.launch_duration_ns);
  stack.push_back(event.stack);
  thread.push_back(event.thread);
  correlation.push_back(event.correlation);
  graph_node.push_back(event.graph_node);
  bytes.push_back(event.bytes);
  address.push_back(event.address);
  pool.push_back(event.pool);
  level_bytes.push_back(event.level_bytes);
  reserved_bytes.push_back(event.reserved_bytes);
}

Event EventColumns::At(size_t index) const {
  return {.op = op[index],
          .start_ns = start_ns[index],
          .duration_ns = duration_ns[index],
          .launch_start_ns = ValueOr(launch_start_ns, index, kNoTime),
          .launch_duration_ns = ValueOr<int64_t>(launch_duration_ns, index, 0),
          .stack = ValueOr<uint32_t>(stack, index, 0),
          .thread = ValueOr<uint64_t>(thread, index, 0),
          .correlation = ValueOr<uint64_t>(correlation, index, 0),
          .graph_node = ValueOr<uint64_t>(graph_node, index, 0),
          .bytes = ValueOr<int64_t>(bytes, index, 0),
          .address = ValueOr<uint64_t>(address, index, 0),
          .pool = ValueOr<uint32_t>(pool, index, 0),
          .level_bytes = ValueOr(level_bytes, index, kNoLevel),
          .reserved_bytes = ValueOr(reserved_bytes, index, kNoLevel)};
}

void EventColumns::SortByStart() {
  if (std::is_sorted(start_ns.begin(), start_ns.end())) return;
  std::vector<size_t> order(size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return start_ns[a] < start_ns[b]; });
  Permute(order, op);
  Permute(order, start_ns);
  Permute(order, duration_ns);
  Permute(order, launch_start_ns);
  Permute(order, launch_duration_ns);
  Permute(order, stack);
  Permute(order, thread);
  Permute(order, correlation);
  Permute(order, graph_node);
  Permute(order, bytes);
  Permute(order, address);
  Permute(order, pool);
  Permute(order, level_bytes);
  Permute(order, reserved_bytes);
}

}  // namespace nanolane::trace
