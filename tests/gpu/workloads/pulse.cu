// One short kernel after the other with pauses, and when each had ended by the wall clock.
//
//   pulse N MS    N kernels, MS milliseconds apart → ends: ns of CLOCK_REALTIME
#include "control.h"

__global__ void pulse_kernel() {}

int main() {
  CHECK_CUDA(cudaFree(nullptr));
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  pulse_kernel<<<1, 1, 0, stream>>>();
  CHECK_CUDA(cudaStreamSynchronize(stream));
  gpu_check::Serve({{"pulse", [&](const gpu_check::Arguments& arguments) {
                       std::string ends;
                       for (int64_t i = 0; i < arguments.at(0); ++i) {
                         pulse_kernel<<<1, 1, 0, stream>>>();
                         CHECK_CUDA(cudaStreamSynchronize(stream));
                         const int64_t end = gpu_check::ClockNs(CLOCK_REALTIME);
                         ends += (i == 0 ? "" : ",") + std::to_string(end);
                         const int64_t pause = arguments.at(1) * 1'000'000;
                         const timespec time{pause / 1'000'000'000, pause % 1'000'000'000};
                         nanosleep(&time, nullptr);
                       }
                       return "\"ends\":[" + ends + "]";
                     }}});
  return 0;
}
