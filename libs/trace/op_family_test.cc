#include "libs/trace/op_family.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace nanolane::trace {
namespace {

// Names as CUPTI, ROCm and Nsight Systems wrote them, with the long ones cut inside parameters that
// repeat.
constexpr std::string_view kGeluKernel =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
    "operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, "
    "2ul> >(int, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
    "{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>)";
constexpr std::string_view kSumKernel =
    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
    "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
    "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, "
    "4> >(at::native::ReduceOp<float, int>)";
constexpr std::string_view kCopyKernel =
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
    "{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, int)::"
    "{lambda(int)#1}>(int, int)";
constexpr std::string_view kNsysHaloKernel =
    "void clover::par_ranged1d_kernel<update_halo_kernel(int, const std::array<int, (unsigned "
    "long)4> &, field_type &)::[lambda(int) (instance 9)]>(clover::Range1d, T1)";
constexpr std::string_view kEnableIfKernel =
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
    "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)";

struct NameCase {
  std::string_view name;
  OpFamily family;
  std::string_view short_name;
};

const std::vector<NameCase>& NameCases() {
  static const std::vector<NameCase> kCases = {
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       OpFamily::kCommunication, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", OpFamily::kCommunication,
       "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(long)",
       OpFamily::kCommunication, "multimem_all_reduce_kernel"},
      {"void vllm::cross_device_reduce_1stage<float, 2>(int)", OpFamily::kCommunication,
       "cross_device_reduce_1stage"},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_execute_kernel__5x_cublas",
       OpFamily::kGemm,
       "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_execute_kernel__5x_cublas"},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(int)", OpFamily::kGemm,
       "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"},
      {"nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT", OpFamily::kGemm,
       "nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT"},
      {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64", OpFamily::kGemm,
       "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(float const*)", OpFamily::kGemm,
       "splitKreduce_kernel"},
      {"void epilogue::impl::globalKernel<float, float, true>(int, cublasLtEpilogue_t)",
       OpFamily::kGemm, "globalKernel"},
      {"void gemv2T_kernel_val<int, int, float>(float)", OpFamily::kGemm, "gemv2T_kernel_val"},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_swiGlu_sm100f", OpFamily::kGemm,
       "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_swiGlu_sm100f"},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)",
       OpFamily::kAttention, "fmha_cutlassF_f32_aligned_64x64_rf_sm80"},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, "
       "cutlass::bfloat16_t>, false>(pytorch_flash::Flash_fwd_params)",
       OpFamily::kAttention, "flash_fwd_kernel"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16", OpFamily::kAttention,
       "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16"},
      {"attn_fwd", OpFamily::kAttention, "attn_fwd"},
      {"sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc",
       OpFamily::kConvolution,
       "sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc"},
      {"void implicit_convolve_sgemm<float, float, 128>(int)", OpFamily::kConvolution,
       "implicit_convolve_sgemm"},
      {kEnableIfKernel, OpFamily::kNorm, "fused_add_rms_norm_kernel"},
      {"void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2)",
       OpFamily::kNorm, "vectorized_layer_norm_kernel"},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float>(int)", OpFamily::kNorm,
       "bn_fw_tr_1C11_kernel_NCHW"},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<c10::Half, float, "
       "c10::Half, "
       "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue, long, 8>(c10::Half*)",
       OpFamily::kSoftmax, "cunn_SoftMaxForwardReg<LogSoftMaxForwardEpilogue>"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
       "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
       "namespace)::FusedAdamMathFunctor<float, 4>, float const*>(int)",
       OpFamily::kOptimizer, "multi_tensor_apply_kernel<FusedAdamMathFunctor>"},
      {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
       "4, at::native::templates::cuda::normal_kernel<float>(int)::{lambda(int)#1}>(int)",
       OpFamily::kRandom, "distribution_elementwise_grid_stride_kernel<normal_kernel>"},
      {"void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::policy_hub<"
       "long>::Policy1000, long>(long*)",
       OpFamily::kSortScan, "DeviceRadixSortOnesweepKernel"},
      {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float>(long*)",
       OpFamily::kEmbedding, "embedding_backward_feature_kernel"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
       "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(int)",
       OpFamily::kIndexing, "CatArrayBatchedCopy"},
      {kCopyKernel, OpFamily::kIndexing, "elementwise_kernel<direct_copy_kernel_cuda>"},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(int)", OpFamily::kIndexing,
       "reshape_and_cache_flash_kernel"},
      {kSumKernel, OpFamily::kReduce, "reduce_kernel<sum_functor>"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
       "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
       OpFamily::kElementwise, "vectorized_elementwise_kernel<CUDAFunctor_add>"},
      {kGeluKernel, OpFamily::kElementwise, "vectorized_elementwise_kernel<GeluCUDAKernelImpl>"},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
       OpFamily::kElementwise, "rotary_embedding_kernel"},
      {"triton_poi_fused_add_mul_sub_0", OpFamily::kElementwise, "triton_poi_fused_add_mul_sub_0"},
      {"triton_poi_fused_native_layer_norm_3", OpFamily::kElementwise,
       "triton_poi_fused_native_layer_norm_3"},
      {"triton_red_fused_sum_7", OpFamily::kReduce, "triton_red_fused_sum_7"},
      {"triton_per_fused_add_native_layer_norm_2", OpFamily::kNorm,
       "triton_per_fused_add_native_layer_norm_2"},
      {"triton_red_fused_add_mean_mul_pow_rsqrt_4", OpFamily::kNorm,
       "triton_red_fused_add_mean_mul_pow_rsqrt_4"},
      {"triton_per_fused__softmax_1", OpFamily::kSoftmax, "triton_per_fused__softmax_1"},
      {"triton_tem_fused_mm_5", OpFamily::kGemm, "triton_tem_fused_mm_5"},
      {kNsysHaloKernel, OpFamily::kOther, "par_ranged1d_kernel<update_halo_kernel>"},
      {"nullKernel", OpFamily::kOther, "nullKernel"},
  };
  return kCases;
}

TEST_CASE("real kernel names have the family and the short name that a person gives them") {
  for (const NameCase& test : NameCases()) {
    CAPTURE(test.name);
    CHECK(ToString(FamilyOf(test.name)) == ToString(test.family));
    CHECK(ShortName(test.name) == test.short_name);
  }
}

TEST_CASE("a word that only looks like a family's does not select it") {
  CHECK(FamilyOf("void foo<bar()::{lambda(int)#1}>(int)") == OpFamily::kOther);  // no lamb
  CHECK(FamilyOf("hadamard_step") == OpFamily::kOther);                          // no adam
  CHECK(FamilyOf("normal_kernel") == OpFamily::kRandom);                         // no norm
  CHECK(FamilyOf("normalized_step") == OpFamily::kOther);
  CHECK(FamilyOf("convert_step") == OpFamily::kOther);  // no convolution
  CHECK(FamilyOf("subscan_step") == OpFamily::kOther);
}

TEST_CASE("parameters and the return type say nothing about the family") {
  CHECK(FamilyOf("void foo(cublasLtEpilogue_t, at::Norm<float>)") == OpFamily::kOther);
  CHECK(FamilyOf("at::softmax_result<float> foo<int>(int)") == OpFamily::kOther);
}

TEST_CASE("families do not depend on case") {
  CHECK(FamilyOf("MYGEMM") == OpFamily::kGemm);
  CHECK(FamilyOf("SoFtMaX") == OpFamily::kSoftmax);
}

TEST_CASE("a short name of what is not a C++ name is the name without blanks around it") {
  for (std::string_view name : {"Memcpy HtoD (Pageable -> Device)", "ProfilerStep#3",
                                "DataLoader next batch", "_ZN2at6nativeE", "x"}) {
    CHECK(ShortName(name) == name);
  }
  CHECK(ShortName("  spaced  ") == "spaced");
  CHECK(ShortName("").empty());
}

TEST_CASE("a short name of a lambda or a call operator is that of what it stands in") {
  CHECK(ShortName("outer(int)::{lambda(int)#1}::operator()(int) const") == "outer");
  CHECK(ShortName("ns::Functor<int>::operator()(int) const") == "Functor");
  CHECK(ShortName("ns::Functor::operator ()(int) const") == "Functor");
}

TEST_CASE("operators that look like brackets do not end a short name") {
  CHECK(ShortName("bool ns::operator< <int>(ns::A<int>, int)") == "operator<");
  CHECK(ShortName("ns::A& ns::operator<<(ns::A&, int)") == "operator<<");
  CHECK(ShortName("void f<&ns::A::operator>, my_functor>(int)") == "f<my_functor>");
  CHECK(ShortName("ns::A::operator->() const") == "operator->");
}

TEST_CASE("unbalanced brackets end a short name") {
  CHECK(ShortName("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFun") ==
        "vectorized_elementwise_kernel");
  CHECK(ShortName("void ns::f(int, std::array<") == "f");
  CHECK(ShortName("ns::f>::g") == "f");
  CHECK(ShortName("void ns::f<(int>(int)") == "f");
}

TEST_CASE("deep nesting is taken in linear time and without recursion") {
  std::string name = "void ns::f";
  for (int i = 0; i < 200'000; ++i) name += "<a(";
  CHECK(ShortName(name) == "f");
  std::string balanced =
      "void ns::f" + std::string(200'000, '<') + "x" + std::string(200'000, '>') + "(int)";
  CHECK(ShortName(balanced) == "f");
  CHECK(FamilyOf(balanced) == OpFamily::kOther);
}

// Whether `text` is well-formed UTF-8 as far as lengths and continuation bytes go.
bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead >= 0x80 && lead < 0xC0) return false;
    if (i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

TEST_CASE("any bytes have a family and a short name that is not longer than they are") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string name(random() % 80, '\0');
    for (char& c : name) c = static_cast<char>(random());
    CHECK(ShortName(name).size() <= name.size());
    CHECK(static_cast<int>(FamilyOf(name)) < kOpFamilyCount);
  }
}

TEST_CASE("names of random pieces keep their length bound and their UTF-8") {
  static constexpr std::array<std::string_view, 34> kPieces = {"<",
                                                               ">",
                                                               "(",
                                                               ")",
                                                               "{",
                                                               "}",
                                                               "[",
                                                               "]",
                                                               "::",
                                                               ":",
                                                               " ",
                                                               ",",
                                                               "*",
                                                               "&",
                                                               "->",
                                                               "operator",
                                                               "()",
                                                               "operator()",
                                                               "const",
                                                               " const::",
                                                               "foo",
                                                               "Kernel",
                                                               "functor",
                                                               "(anonymous namespace)",
                                                               "{lambda(int)#1}",
                                                               "<unnamed>",
                                                               "void ",
                                                               "ReduceOp",
                                                               "gpu_kernel_impl",
                                                               "µ",
                                                               "核",
                                                               "😀",
                                                               "operator<",
                                                               "operator ()"};
  std::mt19937_64 random(11);
  for (int round = 0; round < 50'000; ++round) {
    std::string name;
    for (uint64_t left = random() % 24; left > 0; --left)
      name += kPieces[random() % kPieces.size()];
    CAPTURE(name);
    const std::string short_name = ShortName(name);
    REQUIRE(short_name.size() <= name.size());
    REQUIRE(IsUtf8(short_name));
    REQUIRE(static_cast<int>(FamilyOf(name)) < kOpFamilyCount);
  }
}

TEST_CASE("every name of one character or more has a short name of one or more") {
  std::mt19937_64 random(13);
  for (int round = 0; round < 5'000; ++round) {
    std::string name = "f";
    for (uint64_t left = random() % 12; left > 0; --left) name += "<>(){}[]:ab ,"[random() % 13];
    CAPTURE(name);
    CHECK_FALSE(ShortName(name).empty());
  }
}

}  // namespace
}  // namespace nanolane::trace
