#pragma once
/// \file
/// Bulk copies from global to shared memory (PTX ISA, cp.async.bulk) in the words of 11_bulk_copy. A GPU needs compute
/// capability 9.0. Compiled for an older one they do nothing: with_shared refuses to launch such code.

#include <cuda/barrier>

#include "device/vector.cuh"
#ifndef __CUDACC__
#include "emulated/run/launch.hpp"
#endif

/// Opens, turn after turn, when all bytes under way to a place in shared memory have arrived.
using BulkBarrier = cuda::barrier<cuda::thread_scope_block>;

/// Makes `count` barriers, for copies that the calling thread will ask for. Others may wait for them after a
/// __syncthreads().
__device__ inline void make_barriers(BulkBarrier* barriers, unsigned count) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  for (unsigned k = 0; k < count; ++k)
    init(barriers + k, 1);
#ifdef __CUDA_ARCH__
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the TMA sees them
#endif
#endif
}

/// Asks the TMA for up to `count` vectors from number `first` on, of the `vectors` vectors at `from`, whose
/// address is a multiple of 16. They are at `to`, in shared memory, when `arrived` opens.
template <typename T>
__device__ void bulk_copy(Vector<T>* to, size_t count, const T* from, size_t first, size_t vectors,
                          BulkBarrier& arrived) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if (first >= vectors) return;
  const auto* source = reinterpret_cast<const Vector<T>*>(from) + first;
  const size_t bytes = min(count, vectors - first) * sizeof(Vector<T>);
  cuda::device::memcpy_async_tx(to, source, cuda::aligned_size_t<16>(bytes), arrived);
  static_cast<void>(cuda::device::barrier_arrive_tx(arrived, 1, static_cast<std::ptrdiff_t>(bytes)));
#endif
}

/// Waits until `arrived` has opened for the turn-th time, counted from 0.
__device__ inline void wait_for_turn(BulkBarrier& arrived, unsigned turn) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  arrived.wait_parity(turn % 2 != 0);
#endif
}

/// Lets the kernel be launched on the current device with `bytes` of dynamic shared memory, more than the 48 KiB that
/// every kernel may have, and returns it. Throws DeviceError if it was compiled for a GPU without bulk copies.
template <typename Kernel> Kernel with_shared(size_t bytes, Kernel kernel) {
#ifdef __CUDACC__
  cudaFuncAttributes attributes{};
  reduction::cuda_check(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel's attributes");
  if (attributes.ptxVersion < 90) {
    throw reduction::DeviceError(
        "it was compiled for GPUs before compute capability 9.0, which have no bulk copies: build it with "
        "-DCMAKE_CUDA_ARCHITECTURES=90 or native");
  }
  reduction::cuda_check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "asking for shared memory");
#else
  __emulated::allow_dynamic_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
#endif
  return kernel;
}
