#include "libs/ingest/kineto/frame_names.h"

#include <algorithm>

#include "libs/ingest/kineto/decimal.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::FrameCategory;
using trace::Language;

// Packages that people call "the framework" when they look for their own code.
constexpr std::string_view kPackages[] = {"torch",
                                          "torchvision",
                                          "torchaudio",
                                          "torchao",
                                          "torchtune",
                                          "functorch",
                                          "triton",
                                          "transformers",
                                          "sentence_transformers",
                                          "tokenizers",
                                          "diffusers",
                                          "accelerate",
                                          "peft",
                                          "trl",
                                          "datasets",
                                          "safetensors",
                                          "huggingface_hub",
                                          "deepspeed",
                                          "megatron",
                                          "apex",
                                          "xformers",
                                          "flash_attn",
                                          "flashinfer",
                                          "bitsandbytes",
                                          "vllm",
                                          "sglang",
                                          "tensorrt_llm",
                                          "transformer_engine",
                                          "lightning",
                                          "pytorch_lightning",
                                          "lightning_fabric",
                                          "ignite",
                                          "fairscale",
                                          "torchmetrics",
                                          "timm",
                                          "ray",
                                          "jax",
                                          "jaxlib",
                                          "flax",
                                          "optax",
                                          "tensorflow",
                                          "keras",
                                          "cupy",
                                          "numba",
                                          "numpy",
                                          "scipy",
                                          "pandas",
                                          "sklearn",
                                          "tqdm",
                                          "einops",
                                          "sympy",
                                          "networkx",
                                          "tensorboard",
                                          "wandb"};

// Python's own library, as far as it turns up on stacks.
constexpr std::string_view kStandardLibrary[] = {"_weakrefset",
                                                 "abc",
                                                 "argparse",
                                                 "ast",
                                                 "asyncio",
                                                 "bdb",
                                                 "bisect",
                                                 "codecs",
                                                 "collections",
                                                 "concurrent",
                                                 "contextlib",
                                                 "contextvars",
                                                 "copy",
                                                 "copyreg",
                                                 "csv",
                                                 "ctypes",
                                                 "dataclasses",
                                                 "datetime",
                                                 "decimal",
                                                 "email",
                                                 "enum",
                                                 "fractions",
                                                 "functools",
                                                 "gc",
                                                 "genericpath",
                                                 "glob",
                                                 "gzip",
                                                 "heapq",
                                                 "http",
                                                 "importlib",
                                                 "inspect",
                                                 "io",
                                                 "ipaddress",
                                                 "json",
                                                 "linecache",
                                                 "locale",
                                                 "logging",
                                                 "multiprocessing",
                                                 "numbers",
                                                 "operator",
                                                 "os",
                                                 "pathlib",
                                                 "pickle",
                                                 "pkgutil",
                                                 "platform",
                                                 "posixpath",
                                                 "pprint",
                                                 "queue",
                                                 "random",
                                                 "re",
                                                 "runpy",
                                                 "selectors",
                                                 "shutil",
                                                 "signal",
                                                 "socket",
                                                 "socketserver",
                                                 "ssl",
                                                 "stat",
                                                 "statistics",
                                                 "string",
                                                 "struct",
                                                 "subprocess",
                                                 "tempfile",
                                                 "textwrap",
                                                 "threading",
                                                 "timeit",
                                                 "tokenize",
                                                 "traceback",
                                                 "types",
                                                 "typing",
                                                 "typing_extensions",
                                                 "unittest",
                                                 "urllib",
                                                 "uuid",
                                                 "warnings",
                                                 "weakref",
                                                 "zipfile"};

// Installed packages and the interpreter's own library by their full paths.
constexpr std::string_view kFolders[] = {"site-packages/", "dist-packages/", "/lib/python",
                                         "/lib64/python"};

template <size_t n>
bool IsIn(const std::string_view (&table)[n], std::string_view word) {
  for (const std::string_view row : table) {
    if (row == word) return true;
  }
  return false;
}

// Splits "file(line): function". False: not of this form.
bool SplitPython(std::string_view text, FrameFacts& facts) {
  for (size_t end = text.find("): "); end != std::string_view::npos;
       end = text.find("): ", end + 1)) {
    const size_t open = text.rfind('(', end);
    if (open == std::string_view::npos || open == 0) continue;
    uint64_t line = 0;
    if (!ParseUnsigned(text.substr(open + 1, end - open - 1), line)) continue;
    facts.file = text.substr(0, open);
    facts.line = static_cast<uint32_t>(std::min<uint64_t>(line, 0xFFFF'FFFF));
    facts.function = text.substr(end + 3);
    return !facts.function.empty();
  }
  return false;
}

FrameFacts PythonFacts(std::string_view text) {
  FrameFacts facts;
  facts.language = Language::kPython;
  facts.category = FrameCategory::kFramework;
  if (SplitPython(text, facts)) {
    if (!IsFrameworkFile(facts.file)) facts.category = FrameCategory::kApplication;
  } else {
    facts = {.function = text, .language = facts.language, .category = facts.category};
  }
  return facts;
}

}  // namespace

bool IsFrameworkFile(std::string_view file) {
  if (file.starts_with("<frozen ") || file.starts_with("<__array_function__")) {
    return true;
  }
  for (const std::string_view folder : kFolders) {
    if (Contains(file, folder)) return true;
  }
  const size_t slash = file.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view package = file.substr(0, slash);
    return IsIn(kPackages, package) || IsIn(kStandardLibrary, package);
  }
  if (!file.ends_with(".py")) return false;
  return IsIn(kStandardLibrary, file.substr(0, file.size() - 3));
}

FrameFacts FrameFactsOf(std::string_view text, FrameSource source) {
  switch (source) {
    case FrameSource::kPython: return PythonFacts(text);
    case FrameSource::kOperator:
      return {.function = text, .language = Language::kCpp, .category = FrameCategory::kFramework};
    case FrameSource::kRuntimeCall:
      return {.function = text, .language = Language::kC, .category = FrameCategory::kRuntime};
    case FrameSource::kDriverCall:
      return {.function = text, .language = Language::kC, .category = FrameCategory::kDriver};
  }
  return {.function = text};
}

size_t AddressCut(std::string_view name) {
  if (name.empty() || name.front() != '<' || name.back() != '>') return 0;
  const size_t at = name.rfind(" at 0x");
  return at == std::string_view::npos ? 0 : at;
}

}  // namespace nanolane::ingest::kineto
