// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// Which kernels reduce n elements, and their launches.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "constants.cuh"
#include "elements.cuh"
#include "reduce_kernels.cuh"
#include "same_bits.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- what the device has, and what it is asked to do ----

inline cudaError_t count_multiprocessors(unsigned& multiprocessors) {
  int device = 0;
  int count = 0;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = ::cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  multiprocessors = static_cast<unsigned>(count);
  return status;
}

/// Sets `is` to whether the code of `kernel` that this device runs was compiled for compute capability 9.0 or later:
/// that for an older one has no clusters, no bulk copies and does not wait for the kernel before.
template <typename Kernel> cudaError_t is_for_hopper(bool& is, Kernel kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = ::cudaFuncGetAttributes(&attributes, kernel);
  is = status == cudaSuccess && attributes.ptxVersion >= 90;
  return status;
}

/// Sets `blocks` to the number of blocks of `kernel` that are resident at once.
template <typename Kernel>
cudaError_t resident_blocks(unsigned& blocks, Kernel kernel, unsigned threads, unsigned shared_bytes,
                            unsigned multiprocessors) {
  int resident = 0;
  const cudaError_t status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, kernel, static_cast<int>(threads), shared_bytes);
  const unsigned on_each = std::clamp(static_cast<unsigned>(resident), 1u, most_resident_blocks);
  blocks = on_each * multiprocessors;
  return status;
}

/// Launches kernel<<<grid, threads, shared_bytes, stream>>>(arguments...), with one attribute or none.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned grid, unsigned threads, unsigned shared_bytes,
                   cudaStream_t stream, const cudaLaunchAttribute* attribute, Arguments... arguments) {
  cudaLaunchAttribute copy = attribute != nullptr ? *attribute : cudaLaunchAttribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &copy;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  return ::cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// Makes all blocks of the grid one cluster.
inline cudaLaunchAttribute one_cluster() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster_blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}

/// Lets the kernel start before the one before it in the stream has ended.
inline cudaLaunchAttribute launched_ahead() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

// ---- in the fastest order ----

/// How to reduce n elements.
enum class Method {
  one_small_block,  ///< one kernel of one block
  one_large_block,  ///< the same with more threads
  cluster,          ///< one kernel of one cluster, whose blocks exchange their results in shared memory
  two_kernels,      ///< partial results, and a second kernel for them
  bulk,             ///< the same, with bulk copies into shared memory instead of loads into registers
};

// Kernels of one block or one cluster go over their input once.
static_assert(small_block_bytes <= small_block * loads * 16 &&
              large_block_bytes <= large_block * loads * 16 &&
              cluster_bytes <= cluster_blocks * block * loads * 16);

/// Whether a block may have the ring and a result per warp in shared memory: 99 KiB, on compute capability 12.0.
template <bool wide, typename A>
inline constexpr bool has_room_for_bulk =
    wide&& bulk_ring_bytes + bulk_stages * sizeof(CopyBarrier) + bulk_block / 32 * sizeof(A) <= 99 << 10;

struct Plan {
  Method method = Method::one_small_block;
  unsigned grid = 1;            ///< number of blocks of the first kernel
  bool combines = false;        ///< whether there is a second kernel
  bool launches_ahead = false;  ///< whether that may be launched ahead
};

/// The second kernel.
template <typename R, typename Out>
inline constexpr auto* combine_shares_kernel =
    combine_kernel<combine_block, loads_of<typename R::Accumulator>, R, Out>;

/// Chooses how to reduce n elements.
template <bool wide, typename R, typename Out>
cudaError_t make_plan(Plan& plan, std::size_t n, unsigned multiprocessors) {
  const std::size_t bytes = n * sizeof(typename R::Element);
  plan = Plan{};
  if (bytes <= large_block_bytes) {
    plan.method = bytes <= small_block_bytes ? Method::one_small_block : Method::one_large_block;
    return cudaSuccess;
  }
  bool has_cluster = false;
  cudaError_t status = cudaSuccess;
  if (bytes <= cluster_bytes) {
    status = detail::is_for_hopper(has_cluster, cluster_kernel<wide, R, Out>);
    if (has_cluster) {
      plan.method = Method::cluster;
      plan.grid = cluster_blocks;
      return status;
    }
  }
  plan.combines = true;
  if (status == cudaSuccess)
    status = detail::is_for_hopper(plan.launches_ahead, combine_shares_kernel<R, Out>);
  if (status != cudaSuccess) return status;
  if constexpr (has_room_for_bulk<wide, typename R::Accumulator>) {
    bool has_bulk_copies = false;
    if (bytes > two_kernels_bytes) status = detail::is_for_hopper(has_bulk_copies, bulk_kernel<R>);
    if (has_bulk_copies) {
      plan.method = Method::bulk;
      status = ::cudaFuncSetAttribute(bulk_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bulk_ring_bytes));
      if (status == cudaSuccess)
        status =
            detail::resident_blocks(plan.grid, bulk_kernel<R>, bulk_block, bulk_ring_bytes, multiprocessors);
      return status;
    }
  }
  plan.method = Method::two_kernels;
  if (status == cudaSuccess)
    status = detail::resident_blocks(plan.grid, reduce_kernel<wide, R>, block, 0, multiprocessors);
  constexpr std::size_t tile =
      std::size_t{block} * loads_of<typename R::Element> * Vector<typename R::Element, wide>::width;
  if (const std::size_t tiles = (n + tile - 1) / tile; tiles < plan.grid)
    plan.grid = static_cast<unsigned>(tiles);
  return status;
}

/// Launches the only kernel, which writes the result.
template <bool wide, typename R, typename Out>
cudaError_t launch_one(const Plan& plan, const typename R::Element* in, Out* out, std::size_t n,
                       const R& reduction, const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  const cudaLaunchAttribute cluster = detail::one_cluster();
  switch (plan.method) {
    case Method::one_small_block:
      return detail::launch(one_block_kernel<small_block, wide, R, Out>, 1, small_block, 0, stream, nullptr,
                            in, out, n, reduction, init);
    case Method::cluster:
      return detail::launch(cluster_kernel<wide, R, Out>, plan.grid, block, 0, stream, &cluster, in, out, n,
                            reduction, init);
    default:
      return detail::launch(one_block_kernel<large_block, wide, R, Out>, 1, large_block, 0, stream, nullptr,
                            in, out, n, reduction, init);
  }
}

/// Launches the two kernels, the first of which writes plan.grid partial results.
template <bool wide, typename R, typename Out>
cudaError_t launch_two(const Plan& plan, typename R::Accumulator* partial, const typename R::Element* in,
                       Out* out, std::size_t n, const R& reduction, const Init<typename R::Accumulator>& init,
                       cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  if (plan.method == Method::two_kernels)
    status = detail::launch(reduce_kernel<wide, R>, plan.grid, block, 0, stream, nullptr, in, partial, n,
                            reduction);
  if constexpr (has_room_for_bulk<wide, typename R::Accumulator>) {
    if (plan.method == Method::bulk)
      status = detail::launch(bulk_kernel<R>, plan.grid, bulk_block, bulk_ring_bytes, stream, nullptr, in,
                              partial, n, reduction);
  }
  if (status != cudaSuccess) return status;
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  return detail::launch(combine_shares_kernel<R, Out>, 1, combine_block, 0, stream,
                        plan.launches_ahead ? &ahead : nullptr, partial, plan.grid, out, n, reduction, init);
}

/// Reduces with the caller's storage, or if `bytes` is null with storage from the stream's memory pool.
template <bool wide, typename R, typename Out>
cudaError_t run(void* storage, const std::size_t* bytes, unsigned multiprocessors,
                const typename R::Element* in, Out* out, std::size_t n, const R& reduction,
                const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using A = typename R::Accumulator;
  Plan plan;
  cudaError_t status = detail::make_plan<wide, R, Out>(plan, n, multiprocessors);
  if (status != cudaSuccess) return status;
  if (!plan.combines) return detail::launch_one<wide>(plan, in, out, n, reduction, init, stream);
  if (bytes == nullptr) status = ::cudaMallocAsync(&storage, plan.grid * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  status = detail::launch_two<wide>(plan, static_cast<A*>(storage), in, out, n, reduction, init, stream);
  const cudaError_t freed = bytes == nullptr ? ::cudaFreeAsync(storage, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

// ---- in the order of SameBits ----

/// Launches the kernel that leaves a partial result for each chunk.
template <bool aligned, typename R>
cudaError_t launch_chunks(typename R::Accumulator* partial, const typename R::Element* in, std::size_t n,
                          const Chunks& chunks, const R& reduction, cudaStream_t stream) {
  using T = typename R::Element;
  if constexpr (has_room_for_bulk < aligned && 16 % sizeof(T) == 0, typename R::Accumulator >) {
    static_assert(bulk_block == chunk_block && bulk_stage_bytes == tile_vectors<T> * 16);
    if (n * sizeof(T) > two_kernels_bytes && reinterpret_cast<std::uintptr_t>(in) % bulk_alignment == 0) {
      bool bulk = false;
      cudaError_t status = detail::is_for_hopper(bulk, bulk_chunk_kernel<R>);
      if (bulk && status == cudaSuccess)
        status = ::cudaFuncSetAttribute(bulk_chunk_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bulk_ring_bytes));
      if (status != cudaSuccess) return status;
      if (bulk)
        return detail::launch(bulk_chunk_kernel<R>, chunks.count, bulk_block, bulk_ring_bytes, stream,
                              nullptr, in, partial, n, chunks, reduction);
    }
  }
  return detail::launch(chunk_kernel<aligned, R>, chunks.count, chunk_block, 0, stream, nullptr, in, partial,
                        n, chunks, reduction);
}

/// Does what run() does, in the order of SameBits.
template <bool aligned, typename R, typename Out>
cudaError_t run_same_bits(void* storage, const std::size_t* bytes, const typename R::Element* in, Out* out,
                          std::size_t n, const R& reduction, const Init<typename R::Accumulator>& init,
                          cudaStream_t stream) {
  using A = typename R::Accumulator;
  const auto chunks = chunks_of<typename R::Element>(n);
  if (chunks.count <= 1)
    return detail::launch(one_chunk_kernel<aligned, R, Out>, 1, chunk_block, 0, stream, nullptr, in, out, n,
                          chunks, reduction, init);
  bool launches_ahead = false;
  cudaError_t status = detail::is_for_hopper(launches_ahead, combine_chunks_kernel<R, Out>);
  if (bytes == nullptr && status == cudaSuccess)
    status = ::cudaMallocAsync(&storage, chunks.count * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  auto* const partial = static_cast<A*>(storage);
  status = detail::launch_chunks<aligned>(partial, in, n, chunks, reduction, stream);
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  if (status == cudaSuccess)
    status =
        detail::launch(combine_chunks_kernel<R, Out>, 1, chunk_combine_block, 0, stream,
                       launches_ahead ? &ahead : nullptr, partial, chunks.count, out, n, reduction, init);
  const cudaError_t freed = bytes == nullptr ? ::cudaFreeAsync(storage, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
