// Kernels and graphs.
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/traced_call.h"

namespace nanolane::sim {
namespace {

constexpr int64_t kBytesPerMicrosecond = 20'000;

void RecordKernel(Stream& stream, const Kernel& kernel, const LaunchOptions& options,
                  uint32_t correlation) {
  const bool is_recorded = activity::IsOn(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const Interval interval = stream.Enqueue(options.duration_ns);
  if (!is_recorded) return;
  Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, interval, correlation);
  work.kernel = {kernel.name.c_str(), options.grid, options.block, options.shared_bytes};
  activity::Record(work);
}

dim3 ToDim3(const Dim3& dim) {
  dim3 to;
  to.x = dim.x;
  to.y = dim.y;
  to.z = dim.z;
  return to;
}

CUfunction FunctionOf(const Kernel& kernel) {
  return reinterpret_cast<CUfunction>(const_cast<Kernel*>(&kernel));
}

Call LaunchEx(Stream& stream, const Kernel& kernel, const LaunchOptions& options) {
  cudaLaunchConfig_t config{};
  config.gridDim = ToDim3(options.grid);
  config.blockDim = ToDim3(options.block);
  config.dynamicSmemBytes = options.shared_bytes;
  config.stream = stream.Handle();
  CUlaunchConfig driver_config{};
  driver_config.gridDimX = options.grid.x;
  driver_config.gridDimY = options.grid.y;
  driver_config.gridDimZ = options.grid.z;
  driver_config.blockDimX = options.block.x;
  driver_config.blockDimY = options.block.y;
  driver_config.blockDimZ = options.block.z;
  driver_config.sharedMemBytes = options.shared_bytes;
  driver_config.hStream = stream.Handle();
  const cudaLaunchKernelExC_v11060_params runtime{&config, &kernel, nullptr};
  const cuLaunchKernelEx_params driver{&driver_config, FunctionOf(kernel), nullptr, nullptr};
  const bool is_driver = options.api == LaunchApi::kDriverEx;
  return Trace({.runtime = is_driver ? nullptr : &functions::kCudaLaunchKernelExC,
                .runtime_parameters = &runtime,
                .driver = functions::kCuLaunchKernelEx,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread,
                .symbol = kernel.name.c_str()},
               [&](uint32_t correlation) {
                 if (options.fails_with != kSuccess) return options.fails_with;
                 RecordKernel(stream, kernel, options, correlation);
                 return kSuccess;
               });
}

Work NodeWork(Stream& stream, const GraphNode& node, uint32_t correlation) {
  switch (node.type) {
    case GraphNode::Type::kMemcpy: {
      const auto ns = 1000 + static_cast<int64_t>(node.bytes) * 1000 / kBytesPerMicrosecond;
      Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_MEMCPY, stream.Enqueue(ns), correlation);
      work.bytes = node.bytes;
      work.is_async = true;
      work.copy = {0, 0, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                   CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
      return work;
    }
    case GraphNode::Type::kMemset: {
      Work work =
          WorkOn(stream, CUPTI_ACTIVITY_KIND_MEMSET, stream.Enqueue(node.duration_ns), correlation);
      work.bytes = node.bytes;
      work.is_async = true;
      work.set.value = 0;
      return work;
    }
    case GraphNode::Type::kKernel: break;
  }
  Work work = WorkOn(stream, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                     stream.Enqueue(node.duration_ns), correlation);
  work.kernel = {node.kernel->name.c_str(), {}, {}, 0};
  return work;
}

// CUPTI 13.0 and 13.1 give wrong correlations in every session after the first.
uint32_t CorrelationOfNodes(uint32_t correlation) {
  const int64_t version = GetFaults().cupti_version.load();
  const bool is_wrong = (version == 130000 || version == 130100) && activity::Sessions() > 1;
  return is_wrong ? correlation - 1 : correlation;
}

}  // namespace

Call Launch(Stream& stream, const Kernel& kernel, const LaunchOptions& options) {
  if (options.api == LaunchApi::kRuntimeExC || options.api == LaunchApi::kDriverEx) {
    return LaunchEx(stream, kernel, options);
  }
  const CUstream handle = stream.Handle();
  const cudaLaunchKernel_v7000_params runtime{&kernel, ToDim3(options.grid), ToDim3(options.block),
                                              nullptr, options.shared_bytes, handle};
  const cuLaunchKernel_params driver{FunctionOf(kernel),
                                     options.grid.x,
                                     options.grid.y,
                                     options.grid.z,
                                     options.block.x,
                                     options.block.y,
                                     options.block.z,
                                     options.shared_bytes,
                                     handle,
                                     nullptr,
                                     nullptr};
  const bool is_driver = options.api == LaunchApi::kDriver;
  return Trace({.runtime = is_driver ? nullptr : &functions::kCudaLaunchKernel,
                .runtime_parameters = &runtime,
                .driver = functions::kCuLaunchKernel,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread,
                .symbol = kernel.name.c_str()},
               [&](uint32_t correlation) {
                 if (options.fails_with != kSuccess) return options.fails_with;
                 RecordKernel(stream, kernel, options, correlation);
                 return kSuccess;
               });
}

Call GraphLaunch(Graph& graph, Stream& stream) {
  const auto exec = reinterpret_cast<CUgraphExec>(&graph);
  const cudaGraphLaunch_v10000_params runtime{exec, stream.Handle()};
  const cuGraphLaunch_params driver{exec, stream.Handle()};
  return Trace({.runtime = &functions::kCudaGraphLaunch,
                .runtime_parameters = &runtime,
                .driver = functions::kCuGraphLaunch,
                .driver_parameters = &driver,
                .context = stream.context,
                .per_thread = stream.per_thread},
               [&](uint32_t correlation) {
                 const uint32_t recorded = CorrelationOfNodes(correlation);
                 for (size_t i = 0; i < graph.nodes.size(); ++i) {
                   Work work = NodeWork(stream, graph.nodes[i], recorded);
                   work.graph = graph.id;
                   work.graph_node = graph.node_ids[i];
                   if (activity::IsOn(work.kind)) activity::Record(work);
                 }
                 return kSuccess;
               });
}

}  // namespace nanolane::sim
