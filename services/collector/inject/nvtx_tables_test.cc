#include "services/collector/inject/nvtx_tables.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

using Function = void (*)();

// Handles of NVTX are never given back; leak checkers find them here.
const void* Keep(const void* handle) {
  // Never destroyed: they look when everything else is.
  static auto& kept = *new std::vector<const void*>;
  kept.push_back(handle);
  return handle;
}
using Record = wire::NvtxRecord;

// As NVTX 3's public header has it.
struct Attributes {
  uint16_t version = 3;
  uint16_t size = 48;
  uint32_t category = 0;
  int32_t color_type = 0;
  uint32_t color = 0;
  int32_t payload_type = 0;
  int32_t reserved = 0;
  uint64_t payload = 0;
  int32_t message_type = 0;
  int32_t padding = 0;
  const void* message = nullptr;
};

// A copy of NVTX with its tables of functions.
class Nvtx {
 public:
  static constexpr int kCore = 1;
  static constexpr int kCore2 = 5;

  Nvtx() {
    for (size_t i = 0; i < kSize; ++i) {
      core_entries_[i] = &core_[i];
      core2_entries_[i] = &core2_[i];
    }
    the_one_ = this;
  }
  bool Inject() { return FillNvtxTables(&GetExportTable); }

  template <typename Result, typename... Arguments>
  Result Core(size_t index, Arguments... arguments) const {
    REQUIRE(core_[index] != nullptr);
    return reinterpret_cast<Result (*)(Arguments...)>(core_[index])(arguments...);
  }
  template <typename Result, typename... Arguments>
  Result Core2(size_t index, Arguments... arguments) const {
    REQUIRE(core2_[index] != nullptr);
    return reinterpret_cast<Result (*)(Arguments...)>(core2_[index])(arguments...);
  }

  void Mark(const char* text) const { Core<void>(2, text); }
  uint64_t Start(const char* text) const { return Core<uint64_t>(5, text); }
  void End(uint64_t id) const { Core<void>(7, id); }
  int Push(const char* text) const { return Core<int>(9, text); }
  int Pop() const { return Core<int>(11); }
  const void* Domain(const char* name) const { return Keep(Core2<const void*>(12, name)); }
  int PushIn(const void* domain, const Attributes& what) const {
    return Core2<int>(4, domain, &what);
  }
  int PopIn(const void* domain) const { return Core2<int>(5, domain); }

  Function core(size_t index) const { return core_[index]; }
  size_t struct_size = sizeof(size_t) + sizeof(void*);
  unsigned int table_size = kSize;

 private:
  static constexpr size_t kSize = 16;
  struct ExportCallbacks {
    size_t struct_size;
    int (*get_module_table)(int, Function***, unsigned int*);
  };

  static int GetModuleTable(int module, Function*** table, unsigned int* size) {
    if (module != kCore && module != kCore2) return 0;
    *table = module == kCore ? the_one_->core_entries_.data() : the_one_->core2_entries_.data();
    *size = the_one_->table_size;
    return 1;
  }
  static const void* GetExportTable(uint32_t id) {
    static ExportCallbacks callbacks;
    callbacks = {.struct_size = the_one_->struct_size, .get_module_table = &GetModuleTable};
    return id == 1 ? &callbacks : nullptr;
  }

  static inline Nvtx* the_one_ = nullptr;
  std::array<Function, kSize> core_ = {};
  std::array<Function, kSize> core2_ = {};
  std::array<Function*, kSize> core_entries_ = {};
  std::array<Function*, kSize> core2_entries_ = {};
};

Attributes Named(const char* text) {
  Attributes what;
  what.message_type = 1;
  what.message = text;
  return what;
}

std::vector<const Record*> Ranges(const Contents& contents) {
  return contents.Of<Record>(wire::RecordType::kNvtx);
}

// "name", or "domain/name".
std::string NameOf(const Contents& contents, const Record& record) {
  const auto text = [&](uint32_t id) { return id == 0 ? std::string() : contents.names.at(id); };
  return record.domain == 0 ? text(record.name) : text(record.domain) + "/" + text(record.name);
}

std::vector<std::string> Names(const Contents& contents) {
  std::vector<std::string> names;
  for (const Record* record : Ranges(contents)) names.push_back(NameOf(contents, *record));
  return names;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("tables that are not as expected are left alone") {
  Nvtx nvtx;
  CHECK_FALSE(FillNvtxTables(nullptr));
  CHECK_FALSE(FillNvtxTables([](uint32_t) -> const void* { return nullptr; }));
  nvtx.struct_size = 8;
  CHECK_FALSE(nvtx.Inject());
  nvtx.struct_size = 16;
  nvtx.table_size = 10;  // of an older copy
  CHECK(nvtx.Inject());
  CHECK(NvtxIsInjected());
  CHECK(nvtx.core(9) != nullptr);
  CHECK(nvtx.core(11) == nullptr);
}

TEST_CASE("without a capture ranges cost nothing and leave nothing") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  CHECK(nvtx.Push("a") == 0);
  CHECK(nvtx.Pop() == 0);
  nvtx.Mark("b");
  CHECK(nvtx.Start("c") != nvtx.Start("c"));
  OpenCapture without({.kinds = wire::kKindKernel});
  nvtx.Push("a");
  nvtx.Pop();
  nvtx.Mark("b");
  nvtx.End(nvtx.Start("c"));
  CHECK(without.Read().records.empty());
}

TEST_CASE("pushed ranges nest and are written when they end") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  CHECK(nvtx.Push("outer") == 0);
  CHECK(nvtx.Push("inner") == 1);
  CHECK(capture.Read().records.empty());
  CHECK(nvtx.Pop() == 1);
  nvtx.Mark("between");
  CHECK(nvtx.Pop() == 0);
  const Contents& contents = capture.Read();
  REQUIRE(Names(contents) == Texts{"inner", "between", "outer"});
  const auto ranges = Ranges(contents);
  CHECK(ranges[0]->flags == 0);
  CHECK(ranges[1]->flags == wire::kNvtxMark);
  CHECK(ranges[1]->duration_ns == 0);
  CHECK(ranges[2]->start_ns >= capture.on_ns());
  CHECK(ranges[2]->start_ns <= ranges[0]->start_ns);
  CHECK(ranges[2]->start_ns + ranges[2]->duration_ns >=
        ranges[0]->start_ns + ranges[0]->duration_ns);
  CHECK(ranges[0]->thread == CurrentThread()->thread);
  CHECK(capture.Produced(kSlotNvtx) == 0);  // the page is still open
  capture.End();
  CHECK(capture.Produced(kSlotNvtx) == 3);
}

TEST_CASE("attributes give name, color and category") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  Attributes what = Named("colored");
  what.color_type = 1;
  what.color = 0xFF112233;
  what.category = 12;
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  what.color_type = 0;
  what.message_type = 2;
  what.message = L"gr\u00FC\u00DF \u20AC \U0001F600";
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  what.message_type = 3;
  what.message = Keep(nvtx.Core2<const void*>(10, static_cast<const void*>(nullptr), "registered"));
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  what.message = Keep(nvtx.Core2<const void*>(11, static_cast<const void*>(nullptr), L"w\u00EFde"));
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  what.message_type = 0;
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  what.size = 8;  // of another version: nothing of it is read
  nvtx.Core<void>(1, static_cast<const Attributes*>(&what));
  nvtx.Core<void>(1, static_cast<const Attributes*>(nullptr));
  nvtx.Core<void>(2, static_cast<const char*>(nullptr));
  nvtx.Core<void>(3, static_cast<const wchar_t*>(nullptr));

  const Contents& contents = capture.Read();
  CHECK(Names(contents) == Texts{"colored", "gr\u00FC\u00DF \u20AC \U0001F600", "registered",
                                 "w\u00EFde", "", "", "", "", ""});
  const auto marks = Ranges(contents);
  CHECK(marks[0]->color == 0xFF112233);
  CHECK(marks[0]->category == 12);
  CHECK(marks[1]->color == 0);
  CHECK(marks[4]->category == 12);
  CHECK(marks[5]->category == 0);
}

TEST_CASE("domains nest independently of each other") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  const void* const a = nvtx.Domain("A");
  const void* const b = nvtx.Domain("B");
  nvtx.PushIn(a, Named("a1"));
  nvtx.PushIn(b, Named("b1"));
  nvtx.Push("plain");
  nvtx.PushIn(a, Named("a2"));
  nvtx.PopIn(b);
  nvtx.PopIn(a);
  nvtx.PopIn(a);
  nvtx.Pop();
  CHECK(Names(capture.Read()) == Texts{"B/b1", "A/a2", "A/a1", "plain"});
}

TEST_CASE("an end without a beginning is a range that began before") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  nvtx.Push("before the capture");
  const uint64_t started = nvtx.Start("before the capture");
  OpenCapture capture;
  const void* const domain = nvtx.Domain("A");
  nvtx.Pop();
  nvtx.PopIn(domain);
  nvtx.End(started);
  const Contents& contents = capture.Read();
  CHECK(Names(contents) == Texts{"", "A/", ""});
  const auto ranges = Ranges(contents);
  for (const Record* range : ranges) CHECK(range->start_ns == capture.on_ns());
  CHECK(ranges[0]->flags == wire::kNvtxBeganBefore);
  CHECK(ranges[1]->flags == wire::kNvtxBeganBefore);
  CHECK(ranges[2]->flags == (wire::kNvtxBeganBefore | wire::kNvtxProcessRange));
}

TEST_CASE("ranges beyond the depth that is kept are counted, and the others stay right") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  for (uint32_t i = 0; i < kMaxNvtxDepth; ++i) nvtx.Push(std::to_string(i).c_str());
  for (int i = 0; i < 3; ++i) nvtx.Push("too deep");
  for (uint32_t i = 0; i < kMaxNvtxDepth + 3; ++i) nvtx.Pop();
  CHECK(capture.Lost(wire::LossReason::kNvtxTooDeep, kSlotNvtx) == 3);
  const Texts names = Names(capture.Read());
  REQUIRE(names.size() == kMaxNvtxDepth);
  for (uint32_t i = 0; i < kMaxNvtxDepth; ++i) {
    CHECK(names[i] == std::to_string(kMaxNvtxDepth - 1 - i));
  }
}

TEST_CASE("a range that is started may end in another thread") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  uint64_t id = 0;
  uint32_t starter = 0;
  std::thread([&] {
    id = nvtx.Start("across");
    starter = CurrentThread()->thread;
  }).join();
  nvtx.End(id);
  nvtx.End(id);  // once is enough; a second end is of no range that is known
  const auto ranges = Ranges(capture.Read());
  REQUIRE(ranges.size() == 2);
  CHECK(NameOf(capture.contents(), *ranges[0]) == "across");
  CHECK(ranges[0]->thread == starter);
  CHECK(ranges[0]->flags == wire::kNvtxProcessRange);
  CHECK((ranges[1]->flags & wire::kNvtxBeganBefore) != 0);
}

TEST_CASE("more started ranges than are kept are counted") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  std::vector<uint64_t> ids;
  for (int i = 0; i < 1'024; ++i) ids.push_back(nvtx.Start("open"));
  nvtx.Start("one more");
  CHECK(capture.Lost(wire::LossReason::kNvtxTooDeep, kSlotNvtx) == 1);
  for (const uint64_t id : ids) nvtx.End(id);
  CHECK(Names(capture.Read()) == Texts(1'024, "open"));
}

TEST_CASE("what is open when a capture ends is written up to its end") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  std::atomic<int> stage{0};
  OpenCapture capture;
  std::thread other([&] {
    nvtx.Push("theirs");
    stage.store(1);
    while (stage.load() == 1) std::this_thread::yield();
    nvtx.Pop();  // after the end: nothing
  });
  while (stage.load() == 0) std::this_thread::yield();
  nvtx.Push("outer");
  nvtx.Push("inner");
  nvtx.Start("process");
  const int64_t off = MonotonicNs();
  REQUIRE(CloseCapture(off, kTestPatienceNs));
  nvtx.Push("too late");
  {
    const CaptureUse use;
    WriteOpenRanges(use, off);
  }
  stage.store(2);
  other.join();
  const auto ranges = Ranges(capture.Read());
  Texts names = Names(capture.contents());
  std::sort(names.begin(), names.end());
  CHECK(names == Texts{"inner", "outer", "process", "theirs"});
  for (const Record* range : ranges) {
    CHECK((range->flags & wire::kNvtxStillOpen) != 0);
    CHECK(range->start_ns + range->duration_ns == off);
    const bool own = NameOf(capture.contents(), *range) != "theirs";
    CHECK((range->thread == CurrentThread()->thread) == own);
  }
}

TEST_CASE("ranges of a thread that ends without closing them end with it") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  OpenCapture capture;
  uint32_t thread = 0;
  std::thread([&] {
    nvtx.Push("outer");
    nvtx.Push("inner");
    thread = CurrentThread()->thread;
  }).join();
  const int64_t after = MonotonicNs();
  // Takes over the state of the one that has ended.
  std::thread([&] {
    nvtx.Push("other");
    nvtx.Pop();
  }).join();
  const int64_t off = MonotonicNs();
  REQUIRE(CloseCapture(off, kTestPatienceNs));
  {
    const CaptureUse use;
    WriteOpenRanges(use, off);
  }
  const auto ranges = Ranges(capture.Read());
  CHECK(Names(capture.contents()) == Texts{"inner", "outer", "other"});
  REQUIRE(ranges.size() == 3);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(ranges[i]->thread == thread);
    CHECK(ranges[i]->start_ns + ranges[i]->duration_ns <= after);
  }
}

TEST_CASE("a capture begins with empty stacks") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  {
    OpenCapture first;
    nvtx.Push("of the first");
    nvtx.Start("of the first");
  }
  OpenCapture second;
  nvtx.Pop();
  {
    const CaptureUse use;
    WriteOpenRanges(use, MonotonicNs());
  }
  const auto ranges = Ranges(second.Read());
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0]->flags == wire::kNvtxBeganBefore);
}

TEST_CASE("threads that push, start and end while captures come and go keep to their own") {
  Nvtx nvtx;
  REQUIRE(nvtx.Inject());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> rounds{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string own = "thread " + std::to_string(t);
      while (!stop.load(std::memory_order_relaxed)) {
        std::thread([&] { nvtx.Push("short"); }).join();
        for (int i = 0; i < 50; ++i) {
          nvtx.Push(own.c_str());
          const uint64_t id = nvtx.Start(own.c_str());
          nvtx.Mark(own.c_str());
          nvtx.Pop();
          nvtx.End(id);
        }
        rounds.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 15; ++i) {
    OpenCapture capture({.pages = 256});
    const uint64_t before = rounds.load();
    while (rounds.load() < before + 8) std::this_thread::yield();
    const int64_t off = MonotonicNs();
    REQUIRE(CloseCapture(off, kTestPatienceNs));
    {
      const CaptureUse use;
      WriteOpenRanges(use, off);
    }
    capture.End();
    const Contents& contents = capture.Read();
    std::map<uint32_t, std::set<std::string>> names_of;
    for (const Record* range : Ranges(contents)) {
      REQUIRE(range->duration_ns >= 0);
      if (range->name != 0) names_of[range->thread].insert(NameOf(contents, *range));
    }
    for (const auto& [thread, names] : names_of) REQUIRE(names.size() == 1);
    REQUIRE(capture.Produced(kSlotNvtx) == contents.records.size());
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nanolane::inject
