#include "libs/trace/wire.h"

#include <algorithm>
#include <array>

namespace nanolane::trace {
namespace {

// Enums of the model and of the protos have equal numbers; what lies beyond `last` is from a newer
// writer.
template <typename Enum>
Enum Known(int value, Enum last) {
  return value < 0 || value > static_cast<int>(last) ? Enum{} : static_cast<Enum>(value);
}

void ToProto(const std::array<uint32_t, 3>& extents,
             google::protobuf::RepeatedField<uint32_t>& proto) {
  if (extents == std::array<uint32_t, 3>{}) return;
  for (const uint32_t extent : extents) proto.Add(extent);
}

std::array<uint32_t, 3> Extents(const google::protobuf::RepeatedField<uint32_t>& proto) {
  std::array<uint32_t, 3> extents{};
  std::copy_n(proto.begin(), std::min(proto.size(), 3), extents.begin());
  return extents;
}

}  // namespace

EventKind FromProto(v1::EventKind kind) { return Known(kind, EventKind::kApi); }
v1::EventKind ToProto(EventKind kind) { return static_cast<v1::EventKind>(kind); }

void ToProto(const Lane& lane, v1::Lane& proto) {
  proto.set_kind(static_cast<v1::LaneKind>(lane.kind));
  proto.set_gpu_uuid(lane.gpu_uuid);
  proto.set_gpu_index(lane.gpu_index);
  proto.set_context(lane.context);
  proto.set_stream(lane.stream);
  proto.set_thread(lane.thread);
  proto.set_domain(lane.domain);
}

Lane FromProto(const v1::Lane& proto) {
  return {.kind = Known(proto.kind(), LaneKind::kMemoryFramework),
          .gpu_uuid = proto.gpu_uuid(),
          .gpu_index = proto.gpu_index(),
          .context = proto.context(),
          .stream = proto.stream(),
          .thread = proto.thread(),
          .domain = proto.domain()};
}

void ToProto(const Op& op, v1::Op& proto) {
  proto.set_kind(ToProto(op.kind));
  proto.set_family(static_cast<v1::OpFamily>(op.family));
  proto.set_name(op.name);
  ToProto(op.grid, *proto.mutable_grid());
  ToProto(op.block, *proto.mutable_block());
  proto.set_registers_per_thread(op.registers_per_thread);
  proto.set_static_shared_bytes(op.static_shared_bytes);
  proto.set_dynamic_shared_bytes(op.dynamic_shared_bytes);
  proto.set_copy_direction(static_cast<v1::CopyDirection>(op.copy_direction));
  proto.set_source_memory(static_cast<v1::MemoryKind>(op.source_memory));
  proto.set_destination_memory(static_cast<v1::MemoryKind>(op.destination_memory));
  proto.set_sync_kind(static_cast<v1::SyncKind>(op.sync_kind));
  proto.set_is_async(op.is_async);
  for (const auto& [key, value] : op.attributes) {
    proto.add_attributes(key);
    proto.add_attributes(value);
  }
}

Op FromProto(const v1::Op& proto) {
  Op op{.kind = FromProto(proto.kind()),
        .family = Known(proto.family(), OpFamily::kRandom),
        .copy_direction = Known(proto.copy_direction(), CopyDirection::kPeerToPeer),
        .source_memory = Known(proto.source_memory(), MemoryKind::kManaged),
        .destination_memory = Known(proto.destination_memory(), MemoryKind::kManaged),
        .sync_kind = Known(proto.sync_kind(), SyncKind::kStreamWaitEvent),
        .is_async = proto.is_async(),
        .name = proto.name(),
        .grid = Extents(proto.grid()),
        .block = Extents(proto.block()),
        .registers_per_thread = proto.registers_per_thread(),
        .static_shared_bytes = proto.static_shared_bytes(),
        .dynamic_shared_bytes = proto.dynamic_shared_bytes(),
        .attributes = {}};
  for (int i = 0; i + 1 < proto.attributes_size(); i += 2) {
    op.attributes.emplace_back(proto.attributes(i), proto.attributes(i + 1));
  }
  return op;
}

void ToProto(const DictionaryDelta& delta, v1::DictionaryDelta& proto) {
  if (!delta.strings.empty()) proto.set_first_string(delta.first_string);
  for (const std::string& text : delta.strings) proto.add_strings(text);
  if (!delta.frames.empty()) proto.set_first_frame(delta.first_frame);
  for (const Frame& frame : delta.frames) {
    v1::Frame& to = *proto.add_frames();
    to.set_module(frame.module);
    to.set_offset(frame.offset);
  }
  if (!delta.stacks.empty()) proto.set_first_stack(delta.first_stack);
  for (const StackNode& node : delta.stacks) {
    v1::StackNode& to = *proto.add_stacks();
    to.set_parent(node.parent);
    to.set_frame(node.frame);
  }
  if (!delta.ops.empty()) proto.set_first_op(delta.first_op);
  for (const Op& op : delta.ops) ToProto(op, *proto.add_ops());
  for (const SymbolEntry& entry : delta.symbols) {
    v1::Symbol& to = *proto.add_symbols();
    to.set_frame(entry.frame);
    to.set_function(entry.symbol.function);
    to.set_file(entry.symbol.file);
    to.set_line(entry.symbol.line);
    to.set_language(static_cast<v1::Language>(entry.symbol.language));
    to.set_category(static_cast<v1::FrameCategory>(entry.symbol.category));
  }
  for (const LaneEntry& entry : delta.lanes) {
    v1::LaneEntry& to = *proto.add_lanes();
    to.set_id(entry.id);
    ToProto(entry.lane, *to.mutable_lane());
  }
}

DictionaryDelta FromProto(const v1::DictionaryDelta& proto) {
  DictionaryDelta delta;
  delta.first_string = proto.first_string();
  delta.strings.assign(proto.strings().begin(), proto.strings().end());
  delta.first_frame = proto.first_frame();
  for (const v1::Frame& frame : proto.frames()) {
    delta.frames.push_back({.module = frame.module(), .offset = frame.offset()});
  }
  delta.first_stack = proto.first_stack();
  for (const v1::StackNode& node : proto.stacks()) {
    delta.stacks.push_back({.parent = node.parent(), .frame = node.frame()});
  }
  delta.first_op = proto.first_op();
  for (const v1::Op& op : proto.ops()) delta.ops.push_back(FromProto(op));
  for (const v1::Symbol& symbol : proto.symbols()) {
    delta.symbols.push_back(
        {.frame = symbol.frame(),
         .symbol = {.function = symbol.function(),
                    .file = symbol.file(),
                    .line = symbol.line(),
                    .language = Known(symbol.language(), Language::kKernel),
                    .category = Known(symbol.category(), FrameCategory::kDriver)}});
  }
  for (const v1::LaneEntry& entry : proto.lanes()) {
    delta.lanes.push_back({.id = entry.id(), .lane = FromProto(entry.lane())});
  }
  return delta;
}

namespace {

// Gathers entries into pieces of a bounded size.
class PieceMaker {
 public:
  explicit PieceMaker(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Moves every entry of `from` to the table that `table` picks of the piece that is being filled;
  // `set_first` tells the piece the id of its first entry.
  template <typename Entries, typename Table, typename SetFirst>
  void Add(uint32_t first, Entries& from, Table table, SetFirst set_first) {
    for (auto& entry : from) {
      const size_t bytes = SizeOf(entry);
      if (pieces_.empty() || bytes_ + bytes > max_bytes_) {
        pieces_.emplace_back();
        bytes_ = 0;
      }
      auto* to = table(pieces_.back());
      if (to->empty()) set_first(pieces_.back(), first);
      *to->Add() = std::move(entry);
      bytes_ += bytes;
      ++first;
    }
  }

  std::vector<v1::DictionaryDelta> Take() { return std::move(pieces_); }

 private:
  static constexpr size_t kFraming = 4;

  static size_t SizeOf(const std::string& text) { return text.size() + kFraming; }
  template <typename Message>
  static size_t SizeOf(const Message& message) {
    return message.ByteSizeLong() + kFraming;
  }

  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::vector<v1::DictionaryDelta> pieces_;
};

}  // namespace

std::vector<v1::DictionaryDelta> SplitDelta(v1::DictionaryDelta delta, size_t max_bytes) {
  using Delta = v1::DictionaryDelta;
  const auto no_first = [](Delta&, uint32_t) {};
  PieceMaker maker(max_bytes);
  maker.Add(
      delta.first_string(), *delta.mutable_strings(), [](Delta& d) { return d.mutable_strings(); },
      [](Delta& d, uint32_t first) { d.set_first_string(first); });
  maker.Add(
      delta.first_frame(), *delta.mutable_frames(), [](Delta& d) { return d.mutable_frames(); },
      [](Delta& d, uint32_t first) { d.set_first_frame(first); });
  maker.Add(
      delta.first_stack(), *delta.mutable_stacks(), [](Delta& d) { return d.mutable_stacks(); },
      [](Delta& d, uint32_t first) { d.set_first_stack(first); });
  maker.Add(
      delta.first_op(), *delta.mutable_ops(), [](Delta& d) { return d.mutable_ops(); },
      [](Delta& d, uint32_t first) { d.set_first_op(first); });
  maker.Add(
      0, *delta.mutable_symbols(), [](Delta& d) { return d.mutable_symbols(); }, no_first);
  maker.Add(
      0, *delta.mutable_lanes(), [](Delta& d) { return d.mutable_lanes(); }, no_first);
  return maker.Take();
}

}  // namespace nanolane::trace
