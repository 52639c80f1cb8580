#include <catch2/catch.hpp>
#include <string>

#include "libs/ingest/kineto/frame_names.h"
#include "libs/ingest/kineto/name_table.h"
#include "libs/ingest/kineto/op_names.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::CopyDirection;
using trace::EventKind;
using trace::FrameCategory;
using trace::Language;
using trace::MemoryKind;
using trace::SyncKind;

TEST_CASE("a copy's name tells its direction and its kinds of memory") {
  const CopyFacts up = CopyFactsOf("Memcpy HtoD (Pageable -> Device)", "");
  CHECK(up.direction == CopyDirection::kHostToDevice);
  CHECK(up.source == MemoryKind::kPageable);
  CHECK(up.destination == MemoryKind::kDevice);
  const CopyFacts down = CopyFactsOf("Memcpy DtoH (Device -> Pinned)", "");
  CHECK(down.direction == CopyDirection::kDeviceToHost);
  CHECK(down.destination == MemoryKind::kPinned);
  CHECK(CopyFactsOf("Memcpy AtoH (Array -> Pinned)", "").direction == CopyDirection::kDeviceToHost);
  CHECK(CopyFactsOf("Memcpy DtoA (Device -> Array)", "").direction ==
        CopyDirection::kDeviceToDevice);
  CHECK(CopyFactsOf("Memcpy PtoP (Device -> Device)", "").direction == CopyDirection::kPeerToPeer);
  CHECK(CopyFactsOf("Memcpy HtoH (Pinned -> Pinned)", "").direction == CopyDirection::kHostToHost);
}

TEST_CASE("where a copy's name says nothing, AMD's kind does") {
  CHECK(CopyFactsOf("CopyHostToDevice", "CopyHostToDevice").direction ==
        CopyDirection::kHostToDevice);
  CHECK(CopyFactsOf("copy", "DtoD").direction == CopyDirection::kDeviceToDevice);
  CHECK(CopyFactsOf("copy", "").direction == CopyDirection::kNone);
}

TEST_CASE("calls that wait are told from calls that do not") {
  CHECK(SyncKindOfCall("cudaStreamSynchronize") == SyncKind::kStream);
  CHECK(SyncKindOfCall("cudaStreamSynchronize_ptsz") == SyncKind::kStream);
  CHECK(SyncKindOfCall("cudaEventSynchronize") == SyncKind::kEvent);
  CHECK(SyncKindOfCall("cudaDeviceSynchronize") == SyncKind::kDevice);
  CHECK(SyncKindOfCall("cuCtxSynchronize") == SyncKind::kContext);
  CHECK(SyncKindOfCall("cuCtxSynchronize_v2") == SyncKind::kContext);
  CHECK(SyncKindOfCall("cuStreamSynchronize_v2_ptsz") == SyncKind::kStream);
  CHECK(SyncKindOfCall("hipDeviceSynchronize") == SyncKind::kDevice);
  for (const char* call : {"cudaStreamWaitEvent", "cudaEventQuery", "cudaEventRecord",
                           "cudaLaunchKernel", "Synchronize", "cudaStreamSynchronizer", ""}) {
    INFO(call);
    CHECK(SyncKindOfCall(call) == SyncKind::kNone);
  }
}

TEST_CASE("records of synchronization tell what they wait for") {
  CHECK(SyncKindOfRecord("Stream Wait Event") == SyncKind::kStreamWaitEvent);
  CHECK(SyncKindOfRecord("Event Sync") == SyncKind::kEvent);
  CHECK(SyncKindOfRecord("Stream Sync") == SyncKind::kStream);
  CHECK(SyncKindOfRecord("Stream Synchronize") == SyncKind::kStream);
  CHECK(SyncKindOfRecord("Context Sync") == SyncKind::kContext);
  CHECK(SyncKindOfRecord("Device Sync") == SyncKind::kDevice);
  CHECK(SyncKindOfRecord("something else") == SyncKind::kNone);
}

TEST_CASE("a call can launch work of its kind, a graph launch any") {
  CHECK(CanLaunch("cudaLaunchKernelExC", EventKind::kKernel));
  CHECK(CanLaunch("hipExtModuleLaunchKernel", EventKind::kKernel));
  CHECK_FALSE(CanLaunch("cudaMemcpyAsync", EventKind::kKernel));
  CHECK(CanLaunch("cudaMemcpyAsync", EventKind::kMemcpy));
  CHECK_FALSE(CanLaunch("cudaLaunchKernel", EventKind::kMemset));
  CHECK(CanLaunch("cudaGraphLaunch", EventKind::kMemset));
  CHECK(IsKernelLaunch("cuLaunchKernelEx"));
  CHECK_FALSE(IsKernelLaunch("cudaGraphLaunch"));
  CHECK_FALSE(IsKernelLaunch("cudaLaunchHostFunc"));
}

TEST_CASE("a Python frame's text is taken apart") {
  const FrameFacts facts =
      FrameFactsOf("torch/nn/modules/module.py(2784): children", FrameSource::kPython);
  CHECK(facts.function == "children");
  CHECK(facts.file == "torch/nn/modules/module.py");
  CHECK(facts.line == 2784);
  CHECK(facts.language == Language::kPython);
  CHECK(facts.category == FrameCategory::kFramework);
  const FrameFacts own = FrameFactsOf("train (v2).py(7): <lambda>", FrameSource::kPython);
  CHECK(own.file == "train (v2).py");
  CHECK(own.line == 7);
  CHECK(own.function == "<lambda>");
  CHECK(own.category == FrameCategory::kApplication);
}

TEST_CASE("modules and built-in functions are frames without a file") {
  for (const char* text :
       {"nn.Module: Linear_24", "<built-in function len>", "odd(x): y", "(3): f"}) {
    const FrameFacts facts = FrameFactsOf(text, FrameSource::kPython);
    INFO(text);
    CHECK(facts.function == text);
    CHECK(facts.file.empty());
    CHECK(facts.category == FrameCategory::kFramework);
  }
}

TEST_CASE("operators and calls have their languages and layers") {
  const FrameFacts op = FrameFactsOf("aten::mm", FrameSource::kOperator);
  CHECK(op.language == Language::kCpp);
  CHECK(op.category == FrameCategory::kFramework);
  CHECK(FrameFactsOf("cudaLaunchKernel", FrameSource::kRuntimeCall).category ==
        FrameCategory::kRuntime);
  CHECK(FrameFactsOf("cuLaunchKernel", FrameSource::kDriverCall).category ==
        FrameCategory::kDriver);
}

TEST_CASE("files of packages and of Python itself are the framework, others the application") {
  for (const char* file :
       {"torch/nn/functional.py", "transformers/models/bert/modeling_bert.py",
        "sentence_transformers/util.py", "vllm/v1/worker/gpu_model_runner.py", "threading.py",
        "collections/__init__.py", "<frozen importlib._bootstrap>",
        "/opt/venv/lib/python3.12/site-packages/mypkg/x.py", "/usr/lib/python3.12/runpy.py"}) {
    INFO(file);
    CHECK(IsFrameworkFile(file));
  }
  for (const char* file : {"train.py", "/home/me/train.py", "my_torch/nn.py", "<string>",
                           "/tmp/ipykernel_1/123.py", "src/model/torch.py"}) {
    INFO(file);
    CHECK_FALSE(IsFrameworkFile(file));
  }
}

TEST_CASE("addresses are cut off the names of built-in methods alone") {
  const std::string name = "<built-in method append of list object at 0x7f5436eb6580>";
  CHECK(name.substr(0, AddressCut(name)) == "<built-in method append of list object");
  CHECK(AddressCut("<built-in function len>") == 0);
  CHECK(AddressCut("kernel at 0x12") == 0);
  CHECK(AddressCut("") == 0);
}

TEST_CASE("equal texts have one id and ids find their texts again") {
  NameTable table;
  CHECK(table.Intern("") == 0);
  std::vector<NameId> ids;
  for (int i = 0; i < 50'000; ++i) ids.push_back(table.Intern("name " + std::to_string(i)));
  for (int i = 0; i < 50'000; ++i) {
    const auto id = ids[static_cast<size_t>(i)];
    REQUIRE(table.Text(id) == "name " + std::to_string(i));
    REQUIRE(table.Intern("name " + std::to_string(i)) == id);
  }
  CHECK(table.refused() == 0);
}

TEST_CASE("a table of names stays within its bounds") {
  NameTable table;
  const NameId longest = table.Intern(std::string(1 << 20, 'x'));
  CHECK(table.Text(longest).size() == NameTable::kMaxTextBytes);
  std::string text(NameTable::kMaxTextBytes, 'y');
  for (int i = 0; i < 3'000; ++i) {
    text.replace(0, 8, std::to_string(10'000'000 + i));
    (void)table.Intern(text);
  }
  CHECK(table.refused() > 900);
  CHECK(table.Text(table.Intern("something new")) == "something new");
}

}  // namespace
}  // namespace nanolane::ingest::kineto
