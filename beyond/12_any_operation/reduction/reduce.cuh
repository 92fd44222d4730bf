#pragma once
/// \file
/// reduce(): the ladder's result for other people's projects. It needs C++17, the CUDA toolkit and this folder.
///
/// Two kernels: in the first each block leaves one partial result, in the second one block combines these. From compute
/// capability 9.0 on the second one is launched ahead and waits on the device ("programmatic dependent launch", CUDA C++
/// Programming Guide), so that its launch costs next to nothing. A small input takes the second kernel alone.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "operations.cuh"
#include "reduce_kernels.cuh"

namespace reduction {

namespace detail {

/// What the first kernel's launch depends on.
struct Plan {
  bool bulk = false;      ///< bulk copies through shared memory instead of loads into registers
  unsigned grid = 1;      ///< blocks, and so partial results; 1: one kernel does it all
  bool overlaps = false;  ///< whether the second kernel may be launched ahead
};

/// Where one block is as fast as many: it takes no second kernel.
inline constexpr std::size_t one_block_bytes = std::size_t{64} << 10;
/// Where filling and emptying a ring in shared memory no longer counts.
inline constexpr std::size_t bulk_bytes = std::size_t{2} << 30;

template <typename T, typename Operation, bool wide> cudaError_t make_plan(Plan& plan, std::size_t n) {
  plan = Plan{};
  if (n * sizeof(T) <= one_block_bytes) return cudaSuccess;
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

  // Code that was compiled for an older architecture does not wait, whatever it runs on.
  plan.overlaps = major >= 9 && attributes.ptxVersion >= 90;
  int resident = 0;
  if constexpr (wide) {
    plan.bulk = plan.overlaps && n * sizeof(T) >= bulk_bytes;
    if (plan.bulk) {
      const auto kernel = bulk_kernel<T, Operation, wide>;
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bulk_ring_bytes);
      if (status == cudaSuccess)
        status =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, bulk_block, bulk_ring_bytes);
      if (status != cudaSuccess) return status;
      plan.grid = static_cast<unsigned>(resident * multiprocessors);
      return cudaSuccess;
    }
  }
  status =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce_kernel<T, Operation, wide>, block, 0);
  if (status != cudaSuccess) return status;
  const std::size_t tiles = (n / Vector<T, wide>::width + block * loads - 1) / (block * loads);
  plan.grid = static_cast<unsigned>(std::clamp<std::size_t>(
      tiles, 1, static_cast<std::size_t>(resident) * static_cast<std::size_t>(multiprocessors)));
  return cudaSuccess;
}

/// kernel<<<grid, threads, shared_bytes, stream>>>(arguments...), where `overlaps` ahead of the end of the kernel before.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned grid, unsigned threads, std::size_t shared_bytes,
                   bool overlaps, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute ahead{};
  ahead.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  ahead.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &ahead;
  config.numAttrs = overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

template <bool wide, typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, T identity, cudaStream_t stream) {
  Plan plan;
  cudaError_t status = make_plan<T, Operation, wide>(plan, n);
  if (status != cudaSuccess) return status;
  // Never none: a caller who allocates it gets a pointer that is not null.
  const std::size_t needed = std::max<std::size_t>(1, plan.grid > 1 ? plan.grid * sizeof(T) : 0);
  if (temporary_storage == nullptr) {
    temporary_bytes = needed;
    return cudaSuccess;
  }
  if (temporary_bytes < needed || reinterpret_cast<std::uintptr_t>(temporary_storage) % alignof(T) != 0)
    return cudaErrorInvalidValue;
  if (plan.grid == 1) {
    return launch(one_block_kernel<T, Operation, wide>, 1, one_block, 0, false, stream, in, out, n, operation,
                  identity);
  }
  T* const partial = static_cast<T*>(temporary_storage);
  if constexpr (wide) {
    if (plan.bulk) {
      status = launch(bulk_kernel<T, Operation, wide>, plan.grid, bulk_block, bulk_ring_bytes, false, stream,
                      in, partial, n, operation, identity);
    }
  }
  if (!plan.bulk) {
    status = launch(reduce_kernel<T, Operation, wide>, plan.grid, block, 0, false, stream, in, partial, n,
                    operation, identity);
  }
  if (status != cudaSuccess) return status;
  return launch(combine_kernel<T, Operation>, 1, block, 0, plan.overlaps, stream, partial, out, plan.grid,
                operation, identity);
}

}  // namespace detail

/// Combines the n elements at `in` by `operation` and writes the result to `out`; `identity`, where n is 0.
///
/// Called with temporary_storage == nullptr it launches nothing and sets temporary_bytes to what a call with the same
/// n on the same device needs. The storage needs no initialisation, and is free again when the work has finished.
///
/// - in, out, temporary_storage: device memory; `in` at any address that is right for a T, temporary_storage aligned for a
///   T as cudaMalloc's is. `out` may be temporary_storage's neighbour, but overlaps neither it nor the input.
/// - T: trivially copyable and default constructible, of any size.
/// - operation: a device callable T(T, T), associative and commutative; one of operations.cuh or your own. Elements are
///   combined in an order that depends on n, T and the device only: the same bits in every run.
/// - identity: operation(identity, x) is x.
/// - stream: everything is queued there, and nothing waits; it may be captured into a graph.
///
/// Returns the first error of CUDA, or cudaErrorInvalidValue for storage that is too small or misaligned. What fails on
/// the device shows at the stream's next synchronisation, as ever.
template <typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, T identity, cudaStream_t stream = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes between threads");
  static_assert(std::is_default_constructible_v<T>, "threads hold elements that they have yet to load");
  if constexpr (16 % sizeof(T) == 0) {
    // A T that is larger than its alignment may stand where no vector of them can begin.
    if (alignof(T) == sizeof(T) || reinterpret_cast<std::uintptr_t>(in) % sizeof(T) == 0)
      return detail::reduce<true>(temporary_storage, temporary_bytes, in, out, n, operation, identity,
                                  stream);
  }
  return detail::reduce<false>(temporary_storage, temporary_bytes, in, out, n, operation, identity, stream);
}

/// The same for an operation that knows its identity.
template <typename T, typename Operation>
cudaError_t reduce(void* temporary_storage, std::size_t& temporary_bytes, const T* in, T* out, std::size_t n,
                   Operation operation, cudaStream_t stream = nullptr) {
  return reduce(temporary_storage, temporary_bytes, in, out, n, operation, Operation::template identity<T>(),
                stream);
}

}  // namespace reduction
