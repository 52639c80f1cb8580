#include "libs/trace/op_family.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "absl/strings/ascii.h"

namespace nanolane::trace {
namespace {

// ---- The table ----------------------------------------------------------------------------------
//
// Words are lower-case parts of a name, apart by blanks; any of them selects the row. '^' before or
// '$' behind a word: no letter may stand there ("^lamb$" is not in "lambda"). "a+b": both occur.
// Rows that would lose to a more general word stand before it.
struct FamilyRow {
  OpFamily family;
  std::string_view words;
};

constexpr std::array kFamilyRows = {
    // First, because "reduce" and "gather" mean something else everywhere below.
    FamilyRow{OpFamily::kCommunication,
              "nccl rccl msccl nvshmem deep_ep:: multimem symm_mem sendrecv all_reduce allreduce "
              "all_gather allgather reduce_scatter reducescatter all_to_all alltoall "
              "cross_device_reduce userbuffers"},

    // Kernels that a compiler fused and named after its parts: what shape of loop it is counts, not
    // the parts, except where a reduction is the heart of a norm or a softmax.
    FamilyRow{OpFamily::kElementwise, "^triton_poi_"},
    FamilyRow{OpFamily::kSoftmax, "^triton_red_+softmax ^triton_per_+softmax"},
    FamilyRow{OpFamily::kNorm,
              "^triton_red_+norm ^triton_per_+norm ^triton_red_+rsqrt ^triton_per_+rsqrt"},
    FamilyRow{OpFamily::kReduce, "^triton_red_ ^triton_per_"},
    FamilyRow{OpFamily::kOptimizer, "^triton_for_"},
    FamilyRow{OpFamily::kAttention, "^triton_tem_+attention"},
    FamilyRow{OpFamily::kConvolution, "^triton_tem_+conv"},
    FamilyRow{OpFamily::kGemm, "^triton_tem_ ^triton_mm ^triton_bmm"},

    // Beside attention, with its words in their names, but not attention.
    FamilyRow{OpFamily::kIndexing, "reshape_and_cache copy_page"},
    FamilyRow{OpFamily::kElementwise, "rotary ^rope$"},
    FamilyRow{OpFamily::kAttention,
              "attention attn sdpa fmha ^mha_ ^mla_ ^flash:: flash_fwd flash_bwd flash_fprop "
              "flash_bprop batchprefill batchdecode singleprefill compute_dot_do_o convert_dq"},

    // An implicit GEMM is how a convolution is done.
    FamilyRow{OpFamily::kConvolution,
              "implicit_gemm implicit_convolve convol conv1d conv2d conv3d ^conv_ winograd wgrad "
              "dgrad fprop bprop im2col col2im depthwise cudnn::cnn"},

    // With the helpers of a matrix product: a split-K product is not done before its partial sums
    // are added, and cublasLt runs some epilogues as kernels of their own.
    FamilyRow{OpFamily::kGemm,
              "gemm gemv xmma cublas nvjet cijk_ splitkreduce epilogue::impl::globalkernel matmul "
              "addmm ^mm$ ^bmm cutlass_ cutlass::kernel cutlass::device_kernel tensorop marlin "
              "fused_moe ^fmoe trsm trmm syrk spmm"},

    FamilyRow{OpFamily::kSoftmax, "softmax softmin cross_entropy"},
    FamilyRow{OpFamily::kNorm,
              "layer_norm layernorm rms_norm rmsnorm batch_norm batchnorm group_norm groupnorm "
              "instance_norm gammabeta ^bn_fw ^bn_bw ^ln_fwd ^ln_bwd ^norm$"},
    FamilyRow{OpFamily::kOptimizer,
              "multi_tensor ^adam fused_adam fusedadam ^sgd$ ^lamb$ adagrad rmsprop "
              "amp_update_scale amp_non_finite"},
    // Dropout too: drawing the mask is its work.
    FamilyRow{OpFamily::kRandom,
              "philox curand distribution dropout randperm bernoulli multinomial ^normal_ uniform_ "
              "generate_seed"},
    // With what counts and offsets before a permutation, as in the routing of experts.
    FamilyRow{OpFamily::kSortScan,
              "sort topk ^scan$ devicescan cumsum cumprod unique histogram routing moe_align"},
    FamilyRow{OpFamily::kEmbedding,
              "embedding compute_grad_weight sum_and_scatter krn_partial partial_segments"},

    // Fill loops that are named after the index which they write.
    FamilyRow{OpFamily::kElementwise, "elementwise_kernel_with_index arange linspace"},
    // Whatever moves values without computing on them; a copy inside the GPU is a cast, a transpose
    // or a gather by strides. Before elementwise, whose loops carry the copies as functors.
    FamilyRow{
        OpFamily::kIndexing,
        "gather scatter ^index_ indexselect indexfunc indexing indexput index_kernel catarray "
        "^cat_ concat transpose permut copy nchwtonhwc nhwctonchw masked_select nonzero ^flip "
        "^roll_ triu_tril _pad_ constant_pad upsample moe::dev::finalize finalizemoe"},

    FamilyRow{OpFamily::kReduce, "reduce reduction argmax argmin dot_kernel pool moe_sum"},
    FamilyRow{OpFamily::kElementwise,
              "elementwise pointwise vectorized unrolled fill gelu relu silu swiglu sigmoid tanh "
              "activation act_and_mul quant bias_add clamp axpy transform_kernel parallel_for "
              "for_each"},
};

bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// ASCII alone: other bytes stay as they are.
std::string ToLower(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Whether `name` (lower-case) holds `word`, which may have anchors.
bool HoldsWord(std::string_view name, std::string_view word) {
  const bool starts = word.starts_with('^');
  const bool ends = word.ends_with('$');
  if (starts) word.remove_prefix(1);
  if (ends) word.remove_suffix(1);
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool start_fits = !starts || at == 0 || !IsLetter(name[at - 1]);
    const bool end_fits = !ends || end == name.size() || !IsLetter(name[end]);
    if (start_fits && end_fits) return true;
  }
  return false;
}

bool HoldsAll(std::string_view name, std::string_view words_by_plus) {
  while (true) {
    const size_t plus = words_by_plus.find('+');
    if (!HoldsWord(name, words_by_plus.substr(0, plus))) return false;
    if (plus == std::string_view::npos) return true;
    words_by_plus.remove_prefix(plus + 1);
  }
}

bool HoldsAny(std::string_view name, std::string_view words_by_blank) {
  while (!words_by_blank.empty()) {
    const size_t blank = words_by_blank.find(' ');
    if (HoldsAll(name, words_by_blank.substr(0, blank))) return true;
    if (blank == std::string_view::npos) return false;
    words_by_blank.remove_prefix(blank + 1);
  }
  return false;
}

// ---- Names of C++ functions ---------------------------------------------------------------------

// The symbol of an operator function that starts at `at`, or 0: "()" of "operator()". Without this
// "operator<" would open a bracket.
size_t OperatorSymbol(std::string_view text, size_t at) {
  static constexpr std::array<std::string_view, 16> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "<<",  ">>", "<=", ">=",
      "->",  "()",  "[]",  " ()", " []", "<",  ">",  " <"};
  static constexpr std::string_view kOperator = "operator";
  if (at < kOperator.size() || text.substr(at - kOperator.size(), kOperator.size()) != kOperator) {
    return 0;
  }
  for (std::string_view symbol : kSymbols) {
    if (text.substr(at).starts_with(symbol)) return symbol.size();
  }
  return 0;
}

char ClosingOf(char open) {
  switch (open) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    default: return '>';
  }
}

// Where the group that opens at `at` has ended, or nothing when it does not end. Inside round
// brackets '>' may be a comparison, so it closes only a '<'; other brackets close what is open
// within them. O(length of the group).
std::optional<size_t> EndOfGroup(std::string_view text, size_t at) {
  std::string open(1, text[at]);
  for (size_t i = at + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (const size_t symbol = OperatorSymbol(text, i); symbol > 0) {
      i += symbol - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      open.push_back(c);
    } else if (c == '>') {
      if (text[i - 1] != '-' && open.back() == '<') open.pop_back();
    } else if (c == ')' || c == ']' || c == '}') {
      while (!open.empty() && open.back() == '<') open.pop_back();
      if (open.empty() || ClosingOf(open.back()) != c) return std::nullopt;
      open.pop_back();
    }
    if (open.empty()) return i + 1;
  }
  return std::nullopt;
}

struct FunctionName {
  std::string_view qualified;      // with namespaces and template arguments
  std::string_view base;           // the last part that is not a lambda or operator()
  std::string_view template_args;  // of the base, without the brackets
};

// Splits "ret ns::name<args>(params) const" from left to right, one part between "::" at a time.
class NameParser {
 public:
  explicit NameParser(std::string_view text) : text_(text) {}

  // Nothing when the text is not a C++ name: those of C and Triton, annotations, copies.
  std::optional<FunctionName> Parse() {
    while (at_ < text_.size()) {
      const Step step = TakePart();
      if (step == Step::kNotCpp) return std::nullopt;
      if (step == Step::kEnd) break;
    }
    if (!is_cpp_ || name_.base.empty()) return std::nullopt;
    name_.qualified = text_.substr(start_, at_ - start_);
    return name_;
  }

 private:
  enum class Step { kNext, kEnd, kNotCpp };

  bool At(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool AtScope(size_t at) const { return text_.substr(at).starts_with("::"); }

  void SkipIdentifier() {
    while (at_ < text_.size()) {
      if (const size_t symbol = OperatorSymbol(text_, at_); symbol > 0) {
        at_ += symbol;
        continue;
      }
      if (AtScope(at_) || std::string_view(" *&<([{>)]},;").find(text_[at_]) != std::string::npos) {
        return;
      }
      ++at_;
    }
  }

  Step TakePart() {
    const size_t begin = at_;
    SkipIdentifier();
    const std::string_view identifier = text_.substr(begin, at_ - begin);
    return identifier.empty() ? TakeUnnamedPart() : TakeNamedPart(identifier);
  }

  // "(anonymous namespace)", "<unnamed>", "{lambda(int)#1}", "[lambda(int) (instance 1)]", or what
  // stands between two words.
  Step TakeUnnamedPart() {
    if (At(' ') || At('*') || At('&')) {
      StartAnew();
      return Step::kNext;
    }
    if (!At('(') && !At('<') && !At('{') && !At('[')) return Step::kEnd;
    const bool is_round = At('(');
    const std::optional<size_t> end = EndOfGroup(text_, at_);
    if (!end.has_value()) return Step::kEnd;
    if (is_round && !AtScope(*end)) return Step::kNotCpp;
    at_ = *end;
    return AfterPart();
  }

  Step TakeNamedPart(std::string_view identifier) {
    while (At('[')) {  // an ABI tag
      const std::optional<size_t> end = EndOfGroup(text_, at_);
      if (!end.has_value()) break;
      at_ = *end;
    }
    const bool tells = identifier != "operator()" && identifier != "operator ()";
    if (tells) name_ = {.qualified = {}, .base = identifier, .template_args = {}};
    if (identifier.ends_with('<') && text_.substr(at_).starts_with(" <")) ++at_;
    if (At('<')) {
      is_cpp_ = true;
      const std::optional<size_t> end = EndOfGroup(text_, at_);
      if (!end.has_value()) return Step::kEnd;
      if (tells) name_.template_args = text_.substr(at_ + 1, *end - at_ - 2);
      at_ = *end;
    }
    return AfterPart();
  }

  Step AfterPart() {
    if (At('(')) {
      is_cpp_ = true;
      const std::optional<size_t> end = EndOfGroup(text_, at_);
      if (!end.has_value()) return Step::kEnd;
      size_t behind = *end;
      if (text_.substr(behind).starts_with(" const")) behind += 6;
      if (!AtScope(behind)) return Step::kEnd;
      at_ = behind;  // the scope of a local class or lambda
    }
    if (AtScope(at_)) {
      is_cpp_ = true;
      at_ += 2;
    }
    return Step::kNext;
  }

  // A word has ended: it was a return type if another one follows.
  void StartAnew() {
    size_t next = at_;
    while (next < text_.size() && std::string_view(" *&").find(text_[next]) != std::string::npos) {
      ++next;
    }
    at_ = next;
    if (next == text_.size()) return;
    start_ = next;
    name_ = {};
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the qualified name
  bool is_cpp_ = false;
  FunctionName name_;
};

// ---- Functors -----------------------------------------------------------------------------------

bool IsIdentifierByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Template arguments that only carry the one that does the work.
bool IsWrapper(std::string_view identifier) {
  static constexpr std::array<std::string_view, 10> kWrappers = {
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", "ReduceOp", "BinaryFunctor",
      "UnaryFunctor",    "AUnaryFunctor",          "BUnaryFunctor",    "operator", "decltype"};
  return std::find(kWrappers.begin(), kWrappers.end(), identifier) != kWrappers.end();
}

// Whether a template argument names a computation rather than a type or a policy.
bool NamesComputation(std::string_view identifier, bool is_function) {
  if (IsWrapper(identifier)) return false;
  if (is_function || identifier.ends_with("Op") || identifier.ends_with("Ops")) {
    return true;
  }
  const std::string lower = ToLower(identifier);
  const auto holds = [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  };
  if (holds("param") || holds("trait")) return false;
  return holds("functor") || holds("kernel") || holds("gemm") || holds("epilogue");
}

// The first template argument, outermost first, that names a computation; "" when none does.
std::string_view FunctorOf(std::string_view args) {
  size_t at = 0;
  while (at < args.size()) {
    if (IsIdentifierByte(args[at])) {
      const size_t begin = at;
      while (at < args.size() && IsIdentifierByte(args[at])) ++at;
      const bool is_scope = args.substr(at).starts_with("::");
      const bool is_function = at < args.size() && args[at] == '(';
      const std::string_view identifier = args.substr(begin, at - begin);
      if (!is_scope && NamesComputation(identifier, is_function)) return identifier;
    } else if (args[at] == '(' || args[at] == '{' || args[at] == '[') {
      const std::optional<size_t> end = EndOfGroup(args, at);
      if (!end.has_value()) return {};
      at = *end;
    } else {
      ++at;
    }
  }
  return {};
}

}  // namespace

OpFamily FamilyOf(std::string_view kernel_name) {
  // Parameters repeat the template arguments and add types that say nothing about the work.
  const std::optional<FunctionName> parts = NameParser(kernel_name).Parse();
  const std::string name = ToLower(parts.has_value() ? parts->qualified : kernel_name);
  for (const FamilyRow& row : kFamilyRows) {
    if (HoldsAny(name, row.words)) return row.family;
  }
  return OpFamily::kOther;
}

std::string ShortName(std::string_view kernel_name) {
  const std::string_view trimmed = Trimmed(kernel_name);
  const std::optional<FunctionName> parts = NameParser(trimmed).Parse();
  if (!parts.has_value()) return std::string(trimmed);
  const std::string_view functor = FunctorOf(parts->template_args);
  if (functor.empty()) return std::string(parts->base);
  return std::string(parts->base).append("<").append(functor).append(">");
}

}  // namespace nanolane::trace
