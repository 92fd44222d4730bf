// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// Which kernels reduce n elements, and their launches.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "constants.cuh"
#include "elements.cuh"
#include "input.cuh"
#include "reduce_kernels.cuh"
#include "same_bits.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- what the device has, and what it is asked to do ----

/// Sets `is` to whether the code of `kernel` that this device runs was compiled for compute capability 9.0 or later:
/// that for an older one has no bulk copies and does not wait for the kernel before.
template <typename Kernel> cudaError_t is_for_hopper(bool& is, Kernel kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = ::cudaFuncGetAttributes(&attributes, kernel);
  is = status == cudaSuccess && attributes.ptxVersion >= 90;
  return status;
}

/// Sets `holds` to whether a multiprocessor of this device holds two blocks of large_block threads: with one, nothing would be
/// loaded while that ends.
inline cudaError_t holds_two_large_blocks(bool& holds) {
  int device = 0;
  int threads = 0;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = ::cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  holds = threads >= static_cast<int>(2 * large_block);
  return status;
}

/// Launches kernel<<<grid, threads, shared_bytes, stream>>>(arguments...), with one attribute or none.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 threads, unsigned shared_bytes,
                   cudaStream_t stream, const cudaLaunchAttribute* attribute, Arguments... arguments) {
  cudaLaunchAttribute copy = attribute != nullptr ? *attribute : cudaLaunchAttribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &copy;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  return ::cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// Lets the kernel start before the one before it in the stream has ended.
inline cudaLaunchAttribute launched_ahead() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

// ---- in the fastest order ----

/// Elements that a block of `threads` threads takes.
template <unsigned threads, bool wide, typename T>
inline constexpr std::size_t tile_size = std::size_t{threads} * loads_of<T>* Vector<T, wide>::width;

/// Partial results that n elements have at most: those of tiles, and those of shares of them. There is always one, so that
/// storage is not null, and fewer elements have no more.
template <typename T> std::size_t most_partial_results(std::size_t n) {
  const std::size_t tiles = detail::parts(n, tile_size<small_block, is_wide<T>, T>);
  return 1 + tiles + tiles / share;
}

/// Launches what combines `count` partial results of n elements; those of shares go behind them.
template <typename R, typename Count, typename Out>
cudaError_t launch_combine(typename R::Accumulator* partial, unsigned count, Count n, Out* out,
                           const R& reduction, const Init<typename R::Accumulator>& init,
                           cudaStream_t stream) {
  bool launches_ahead = false;
  cudaError_t status = detail::is_for_hopper(launches_ahead, combine_kernel<large_block, R, Count, Out>);
  const cudaLaunchAttribute attribute = detail::launched_ahead();
  const cudaLaunchAttribute* const ahead = launches_ahead ? &attribute : nullptr;
  if (count > one_block_combines && status == cudaSuccess) {
    const auto shares = static_cast<unsigned>(detail::parts(count, share));
    status = detail::launch(combine_shares_kernel<small_block, R>, shares, small_block, 0, stream, ahead,
                            partial, count, partial + count, reduction);
    partial += count;
    count = shares;
  }
  if (status != cudaSuccess) return status;
  const auto combine = [&](auto* kernel, unsigned threads) {
    return detail::launch(kernel, 1, threads, 0, stream, ahead, partial, count, n, out, reduction, init);
  };
  if (count <= one_warp_combines) return combine(combine_kernel<32, R, Count, Out>, 32);
  if (count <= small_block_combines) return combine(combine_kernel<small_block, R, Count, Out>, small_block);
  return combine(combine_kernel<large_block, R, Count, Out>, large_block);
}

/// Reduces the elements of `input`, at most `most`, with the caller's storage, or if `bytes` is null with storage from the
/// stream's memory pool.
template <typename R, typename Input, typename Count, typename Out>
cudaError_t run(void* storage, const std::size_t* bytes, const Input& input, Count n, std::size_t most,
                Out* out, const R& reduction, const Init<typename R::Accumulator>& init,
                cudaStream_t stream) {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  constexpr std::size_t small_tile = tile_size<small_block, Input::is_wide, T>;
  constexpr std::size_t large_tile = tile_size<large_block, Input::is_wide, T>;
  const auto one_block = [&](auto* kernel, unsigned threads) {
    return detail::launch(kernel, 1, threads, 0, stream, nullptr, input, out, reduction, init);
  };
  if (most <= small_tile) return one_block(one_block_kernel<small_block, R, Input, Out>, small_block);
  if (most <= large_tile) return one_block(one_block_kernel<large_block, R, Input, Out>, large_block);

  cudaError_t status = cudaSuccess;
  if (bytes == nullptr)
    status = ::cudaMallocAsync(&storage, most_partial_results<T>(most) * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  auto* const partial = static_cast<A*>(storage);
  unsigned grid = 0;
  const auto reduce = [&](auto* kernel, unsigned threads, std::size_t tile) {
    const std::size_t tiles = detail::parts(most, tile);
    if (tiles > INT32_MAX) return cudaErrorInvalidValue;  // more than a grid has
    grid = static_cast<unsigned>(tiles);
    return detail::launch(kernel, grid, threads, 0, stream, nullptr, input, partial, reduction);
  };
  bool in_large_tiles = most * sizeof(T) > small_blocks_bytes;
  if (R::is_light && in_large_tiles) status = detail::holds_two_large_blocks(in_large_tiles);
  constexpr unsigned threads = R::is_light ? large_block : block;
  if (status == cudaSuccess)
    status = in_large_tiles
                 ? reduce(reduce_kernel<threads, large_block / threads, R, Input>, threads, large_tile)
                 : reduce(reduce_kernel<small_block, 1, R, Input>, small_block, small_tile);
  if (status == cudaSuccess) status = detail::launch_combine(partial, grid, n, out, reduction, init, stream);
  const cudaError_t freed = bytes == nullptr ? ::cudaFreeAsync(storage, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

// ---- in the order of SameBits ----

/// Whether a block may have the ring and a result per warp in shared memory: 99 KiB, on compute capability 12.0.
template <bool wide, typename A>
inline constexpr bool has_room_for_bulk =
    wide&& bulk_ring_bytes + bulk_stages * sizeof(CopyBarrier) + chunk_block / 32 * sizeof(A) <= 99 << 10;

/// Launches the kernel that leaves a partial result for each chunk, of `most` elements at most.
template <bool aligned, typename R, typename Division>
cudaError_t launch_chunks(typename R::Accumulator* partial, const Where<typename R::Element>& in,
                          std::size_t most, const Division& division, const R& reduction,
                          cudaStream_t stream) {
  using T = typename R::Element;
  if constexpr (!is_two<T> && has_room_for_bulk < aligned && can_be_wide<T>, typename R::Accumulator >) {
    static_assert(bulk_stage_bytes == tile_vectors<T> * 16);
    if (most * sizeof(T) > loads_bytes && reinterpret_cast<std::uintptr_t>(in) % bulk_alignment == 0) {
      auto* const kernel = bulk_chunk_kernel<R, Division>;
      bool bulk = false;
      cudaError_t status = detail::is_for_hopper(bulk, kernel);
      if (bulk && status == cudaSuccess)
        status = ::cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bulk_ring_bytes));
      if (status != cudaSuccess) return status;
      if (bulk)
        return detail::launch(kernel, division.most(), chunk_block, bulk_ring_bytes, stream, nullptr, in,
                              division, partial, reduction);
    }
  }
  return detail::launch(chunk_kernel<aligned, R, Division>, division.most(), chunk_block, 0, stream, nullptr,
                        in, division, partial, reduction);
}

/// Does what run() does, in the order of SameBits.
template <bool aligned, typename R, typename Division, typename Out>
cudaError_t run_same_bits(void* storage, const std::size_t* bytes, const Where<typename R::Element>& in,
                          const Division& division, std::size_t most, Out* out, const R& reduction,
                          const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using A = typename R::Accumulator;
  if (division.most() <= 1)
    return detail::launch(one_chunk_kernel<aligned, R, Division, Out>, 1, chunk_block, 0, stream, nullptr, in,
                          division, out, reduction, init);
  bool launches_ahead = false;
  cudaError_t status = detail::is_for_hopper(launches_ahead, combine_chunks_kernel<R, Division, Out>);
  if (bytes == nullptr && status == cudaSuccess)
    status = ::cudaMallocAsync(&storage, division.most() * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  auto* const partial = static_cast<A*>(storage);
  status = detail::launch_chunks<aligned>(partial, in, most, division, reduction, stream);
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  if (status == cudaSuccess)
    status = detail::launch(combine_chunks_kernel<R, Division, Out>, 1, chunk_combine_block, 0, stream,
                            launches_ahead ? &ahead : nullptr, partial, division, out, reduction, init);
  const cudaError_t freed = bytes == nullptr ? ::cudaFreeAsync(storage, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
