#include "bench/synthetic_trace.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"

namespace nanolane::bench {
namespace {

constexpr int kLayers = 8;
constexpr int kOps = 14;  // of one layer
constexpr int64_t kStepNs = 48'000'000;
constexpr int64_t kOpNs = kStepNs / (kLayers * kOps + 1);
constexpr int64_t kFirstNs = 5'102'475'973'000'000;

constexpr const char* kOperators[] = {"aten::linear", "aten::mul",  "aten::native_layer_norm",
                                      "aten::add",    "aten::gelu", "aten::_softmax",
                                      "aten::copy_"};
constexpr const char* kKernels[] = {
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
    "segment_"
    "k_off_kernel__5x_cublas",
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, "
    "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> "
    ">, std::array<char*, 3ul>)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
    "float*, c10::BFloat16*)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::"
    "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::"
    "operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::"
    "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() "
    "const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>)",
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, "
    "false, false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)",
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::"
    "{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int> >(int)",
};
constexpr int kNames = 7;

// Kineto's form of a span. Times in ns.
struct Span {
  const char* category;
  std::string name;
  int64_t pid;
  int64_t tid;
  int64_t start_ns;
  int64_t duration_ns;
  std::string args;
};

std::string Micros(int64_t ns) { return absl::StrFormat("%d.%03d", ns / 1'000, ns % 1'000); }

void AppendSpan(const Span& span, std::string& out) {
  absl::StrAppend(&out, "  {\n    \"ph\": \"X\", \"cat\": \"", span.category, "\", \"name\": \"",
                  span.name, "\", \"pid\": ", span.pid, ", \"tid\": ", span.tid,
                  ",\n    \"ts\": ", Micros(span.start_ns), ", \"dur\": ", Micros(span.duration_ns),
                  ",\n    \"args\": {\n      ", span.args, "\n    }\n  },\n");
}

void AppendMemory(int64_t start_ns, int64_t bytes, int64_t total, std::string& out) {
  absl::StrAppend(&out,
                  "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
                  "\"[memory]\",\n    \"pid\": 545, \"tid\": 545,\n    \"ts\": ",
                  Micros(start_ns), ",\n    \"args\": {\n      \"Total Reserved\": 1728053248, ",
                  "\"Total Allocated\": ", total, ", \"Bytes\": ", bytes,
                  ", \"Addr\": 140619976538112, \"Device Id\": 0, \"Device Type\": 1, ",
                  "\"Ev Idx\": 28932\n    }\n  },\n");
}

void AppendFlow(char phase, int64_t pid, int64_t tid, int64_t start_ns, uint64_t id,
                std::string& out) {
  absl::StrAppend(&out, "  {\n    \"ph\": \"", std::string(1, phase), "\", \"id\": ", id,
                  ", \"pid\": ", pid, ", \"tid\": ", tid, ", \"ts\": ", Micros(start_ns),
                  ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"",
                  phase == 'f' ? ", \"bp\": \"e\"" : "", "\n  },\n");
}

int64_t OpStart(uint64_t step, int layer, int op) {
  return kFirstNs + static_cast<int64_t>(step) * kStepNs + (layer * kOps + op) * kOpNs;
}

// The host's side of a step: what nests around the calls.
std::string HostText(uint64_t step) {
  std::string out;
  const int64_t start = OpStart(step, 0, 0);
  AppendSpan({"user_annotation", "train_step", 545, 545, start, kStepNs - 1'000, "\"Ev Idx\": 1"},
             out);
  AppendSpan({"python_function", "train.py(41): train_step", 545, 545, start, kStepNs - 2'000,
              absl::StrCat("\"Python parent id\": 1, \"Python id\": ", step, ", \"Ev Idx\": 2")},
             out);
  for (int layer = 0; layer < kLayers; ++layer) {
    const int64_t layer_start = OpStart(step, layer, 0);
    const std::string args = absl::StrCat("\"Python parent id\": ", layer,
                                          ", \"Python id\": ", step * kLayers, ", \"Ev Idx\": 3");
    AppendSpan({"python_function", absl::StrCat("nn.Module: Block_", layer), 545, 545, layer_start,
                kOps * kOpNs - 100, args},
               out);
    for (int op = 0; op < kOps; ++op) {
      const int64_t at = OpStart(step, layer, op);
      const std::string op_args = absl::StrCat("\"External id\": ", step * kLayers * kOps + 7,
                                               ",\"Record function id\": 0, \"Ev Idx\": ", op);
      AppendSpan({"python_function", absl::StrCat("torch/nn/functional.py(", 100 + op, "): call"),
                  545, 545, at + 1'000, kOpNs - 2'000, args},
                 out);
      AppendSpan({"python_function",
                  absl::StrCat("<built-in method linear of type object at 0x7f54", 1'000 + op, ">"),
                  545, 545, at + 2'000, kOpNs - 4'000, args},
                 out);
      AppendSpan({"cpu_op", kOperators[op % kNames], 545, 545, at + 3'000, kOpNs - 6'000, op_args},
                 out);
      AppendSpan({"cpu_op", "aten::empty", 545, 545, at + 4'000, 5'000, op_args}, out);
      AppendMemory(at + 5'000, 512 * (op % 2 == 0 ? 1 : -1), 1'572'024'320 + 512 * (op % 2), out);
    }
  }
  return out;
}

// Calls and their device work.
std::string DeviceText(uint64_t step) {
  std::string out;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int op = 0; op < kOps; ++op) {
      const auto index = static_cast<uint64_t>(layer * kOps + op);
      const uint64_t id = step * kLayers * kOps + index + 1;
      const int64_t at = OpStart(step, layer, op);
      const int64_t ran = at + kOpNs / 2 + static_cast<int64_t>(id * 7'919 % 3'001);
      const int64_t length = 2'000 + static_cast<int64_t>(id * 104'729 % 90'001);
      const bool copies = op == kOps - 1;
      const std::string joined = absl::StrCat("\"External id\": ", id, ", ");
      AppendSpan({"cuda_runtime", copies ? "cudaMemcpyAsync" : "cudaLaunchKernel", 545, 545,
                  at + 10'000, 4'800, absl::StrCat(joined, "\"cbid\": 211, \"correlation\": ", id)},
                 out);
      AppendFlow('s', 545, 545, at + 10'000, id, out);
      if (copies) {
        AppendSpan({"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 13, ran, length,
                    absl::StrCat(joined, "\"device\": 0, \"context\": 1,\n      \"stream\": 13, ",
                                 "\"correlation\": ", id, ",\n      \"bytes\": 32832, ",
                                 "\"memory bandwidth (GB/s)\": 7.276595744680851")},
                   out);
      } else {
        AppendSpan(
            {"kernel", kKernels[op % kNames], 0, 7, ran, length,
             absl::StrCat(joined, "\"queued\": 0, \"device\": 0, \"context\": 1,\n      ",
                          "\"stream\": 7, \"correlation\": ", id,
                          ",\n      \"registers per thread\": 32, \"shared memory\": 0,\n",
                          "      \"blocks per SM\": 124.121216, \"warps per SM\": 372.3636,\n",
                          "      \"grid\": [", 1'024 * (op + 1), ", 1, 1],\n",
                          "      \"block\": [128, 1, 1],\n",
                          "      \"est. achieved occupancy %\": 98")},
            out);
      }
      AppendFlow('f', 0, 7, ran, id, out);
    }
  }
  return out;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}

  void Add(const std::string& text) {
    if (file_ == nullptr) return;
    failed_ = failed_ || std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size();
  }
  absl::Status status() const {
    if (file_ != nullptr && !failed_) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, "cannot write the trace");
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool failed_ = false;
};

}  // namespace

absl::StatusOr<uint64_t> WriteSyntheticTrace(const std::string& path, uint64_t bytes) {
  const uint64_t per_step = HostText(1'000).size() + DeviceText(1'000).size();
  const uint64_t steps = bytes / per_step + 1;
  Writer writer(path);
  writer.Add(
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", "
      "\"totalGlobalMem\": 150109880320}],\n  \"baseTimeNanoseconds\": 1790857026000000000,\n"
      "  \"traceEvents\": [\n");
  for (uint64_t step = 0; step < steps; ++step) writer.Add(HostText(step));
  for (uint64_t step = 0; step < steps; ++step) writer.Add(DeviceText(step));
  writer.Add("  {}\n  ],\n  \"traceName\": \"synthetic.json\"\n}\n");
  RETURN_IF_ERROR(writer.status());
  return steps;
}

}  // namespace nanolane::bench
