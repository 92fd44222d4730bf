#pragma once
/// \file
/// reduce(): the ladder's result for other people's projects. It needs C++17, the CUDA toolkit and this folder.
///
/// A small input takes one kernel: one block, or from compute capability 9.0 on one cluster of blocks. A larger one
/// takes two: in the first each block leaves one partial result, in the second one block combines these. From compute
/// capability 9.0 on the second is launched ahead and waits on the device ("programmatic dependent launch", CUDA C++
/// Programming Guide), so its launch costs next to nothing, and bulk copies load a very large input.

#ifndef __CUDACC__
#error "reduction/reduce.cuh has kernels: include it where nvcc compiles, in a .cu file"
#endif

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "operations.cuh"
#include "reduce_kernels.cuh"

namespace reduction {

namespace detail {

/// How to reduce n elements.
enum class Method {
  one_small_block,  ///< one kernel of one block
  one_large_block,  ///< the same with more threads
  cluster,          ///< one kernel of one cluster, whose blocks exchange their results in shared memory
  two_kernels,      ///< partial results, and a second kernel for them
  bulk,             ///< the same, with bulk copies into shared memory instead of loads into registers
};

// The largest input of each method in bytes, measured on an H200.
inline constexpr std::size_t small_block_bytes = std::size_t{16} << 10;
inline constexpr std::size_t large_block_bytes = std::size_t{64} << 10;
inline constexpr std::size_t cluster_bytes = std::size_t{256} << 10;
inline constexpr std::size_t two_kernels_bytes = std::size_t{1} << 30;

struct Plan {
  Method method = Method::one_small_block;
  unsigned grid = 1;      ///< number of blocks of the first kernel
  bool hopper = false;    ///< clusters, bulk copies, and a second kernel that may be launched ahead
  bool combines = false;  ///< whether there is a second kernel

  /// Number of bytes of partial results; never 0, so that a caller who allocates them gets a pointer that is not null.
  template <typename T> std::size_t temporary_bytes() const { return combines ? grid * sizeof(T) : 1; }
};

/// Sets `blocks` to the number of blocks of `kernel` that are resident at once.
template <typename Kernel>
cudaError_t resident_blocks(unsigned& blocks, Kernel kernel, unsigned threads, unsigned shared_bytes,
                            int multiprocessors) {
  int resident = 0;
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, kernel, static_cast<int>(threads), shared_bytes);
  blocks = static_cast<unsigned>(std::max(1, resident * multiprocessors));
  return status;
}

template <bool wide, typename T, typename Operation> cudaError_t make_plan(Plan& plan, std::size_t n) {
  const std::size_t bytes = n * sizeof(T);
  plan = Plan{};
  if (bytes <= large_block_bytes) {
    plan.method = bytes <= small_block_bytes ? Method::one_small_block : Method::one_large_block;
    return cudaSuccess;
  }
  int device = 0;
  int multiprocessors = 0;
  int major = 0;
  cudaFuncAttributes attributes{};
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, combine_kernel<T, Operation>);
  if (status != cudaSuccess) return status;

  // Code compiled for an older architecture has none of this, whatever it runs on.
  plan.hopper = major >= 9 && attributes.ptxVersion >= 90;
  if (plan.hopper && bytes <= cluster_bytes) {
    plan.method = Method::cluster;
    plan.grid = cluster_blocks;
    return cudaSuccess;
  }
  plan.combines = true;
  if constexpr (wide) {
    if (plan.hopper && bytes > two_kernels_bytes) {
      plan.method = Method::bulk;
      const auto kernel = bulk_kernel<T, Operation, wide>;
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bulk_ring_bytes);
      if (status != cudaSuccess) return status;
      return resident_blocks(plan.grid, kernel, bulk_block, bulk_ring_bytes, multiprocessors);
    }
  }
  plan.method = Method::two_kernels;
  status = resident_blocks(plan.grid, reduce_kernel<T, Operation, wide>, block, 0, multiprocessors);
  const std::size_t tiles = (n / Vector<T, wide>::width + block * loads - 1) / (block * loads);
  plan.grid = static_cast<unsigned>(std::clamp<std::size_t>(tiles, 1, plan.grid));
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
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
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

/// Launches the first kernel, which writes plan.grid partial results, or the only one, which writes the result.
template <bool wide, typename T, typename Operation>
cudaError_t launch_first(const Plan& plan, const T* in, T* out, std::size_t n, Operation operation,
                         T identity, cudaStream_t stream) {
  const auto attribute = one_cluster();
  switch (plan.method) {
    case Method::one_small_block:
      return launch(one_block_kernel<small_block, T, Operation, wide>, 1, small_block, 0, stream, nullptr, in,
                    out, n, operation, identity);
    case Method::one_large_block:
      return launch(one_block_kernel<large_block, T, Operation, wide>, 1, large_block, 0, stream, nullptr, in,
                    out, n, operation, identity);
    case Method::cluster:
      return launch(cluster_kernel<T, Operation, wide>, plan.grid, block, 0, stream, &attribute, in, out, n,
                    operation, identity);
    case Method::bulk:
      if constexpr (wide)
        return launch(bulk_kernel<T, Operation, wide>, plan.grid, bulk_block, bulk_ring_bytes, stream,
                      nullptr, in, out, n, operation, identity);
      [[fallthrough]];
    default:
      return launch(reduce_kernel<T, Operation, wide>, plan.grid, block, 0, stream, nullptr, in, out, n,
                    operation, identity);
  }
}

template <bool wide, typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, T identity, cudaStream_t stream) {
  Plan plan;
  cudaError_t status = make_plan<wide, T, Operation>(plan, n);
  if (status != cudaSuccess) return status;
  const std::size_t needed = plan.temporary_bytes<T>();
  if (temporary_storage == nullptr) {
    temporary_bytes = needed;
    return cudaSuccess;
  }
  if (temporary_bytes < needed || reinterpret_cast<std::uintptr_t>(temporary_storage) % alignof(T) != 0)
    return cudaErrorInvalidValue;
  if (!plan.combines) return launch_first<wide>(plan, in, out, n, operation, identity, stream);
  T* const partial = static_cast<T*>(temporary_storage);
  status = launch_first<wide>(plan, in, partial, n, operation, identity, stream);
  if (status != cudaSuccess) return status;
  const auto ahead = launched_ahead();
  return launch(combine_kernel<T, Operation>, 1, combine_block, 0, stream, plan.hopper ? &ahead : nullptr,
                partial, out, plan.grid, operation, identity);
}

}  // namespace detail

/// Combines the n elements at `in` by `operation` and writes the result to `out`: `identity`, if n is 0.
///
/// With temporary_storage == nullptr it launches nothing and sets temporary_bytes to what the same call needs. That
/// depends on n, on the device, and if T is larger than its alignment on the address `in`. The storage needs no
/// initialisation, and is free again when the work has finished.
///
/// - in, out, temporary_storage: device memory, aligned for a T, as cudaMalloc's is. `out` must not overlap
///   temporary_storage or the input.
/// - T: trivially copyable and default constructible, of any size.
/// - operation: a device callable T(T, T), associative and commutative; one of operations.cuh or your own. The order in
///   which it combines elements depends only on n, T, the device and `in` modulo 16: the same bits in every run.
/// - identity: operation(identity, x) is x.
/// - stream: everything is queued there, and the host does not wait; it may be captured into a graph.
///
/// Returns the first error of CUDA, or cudaErrorInvalidValue for storage that is too small or misaligned. As always
/// with CUDA, an error on the device shows at the stream's next synchronisation.
template <typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, T identity, cudaStream_t stream = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes between threads");
  static_assert(std::is_default_constructible_v<T>, "threads hold elements that they have yet to load");
  // A T that is larger than its alignment may be at an address where no vector can begin.
  constexpr bool always_wide = 16 % sizeof(T) == 0 && alignof(T) == sizeof(T);
  if constexpr (always_wide) {
    return detail::reduce<true>(temporary_storage, temporary_bytes, in, out, n, operation, identity, stream);
  } else {
    if constexpr (16 % sizeof(T) == 0) {
      if (reinterpret_cast<std::uintptr_t>(in) % sizeof(T) == 0)
        return detail::reduce<true>(temporary_storage, temporary_bytes, in, out, n, operation, identity,
                                    stream);
    }
    return detail::reduce<false>(temporary_storage, temporary_bytes, in, out, n, operation, identity, stream);
  }
}

/// The same for an operation that knows its identity.
template <typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, cudaStream_t stream = nullptr) {
  return reduce(temporary_storage, temporary_bytes, in, out, n, operation, Operation::template identity<T>(),
                stream);
}

}  // namespace reduction
