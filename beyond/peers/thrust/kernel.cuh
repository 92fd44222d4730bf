#pragma once
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <cstddef>

#include "device/cuda_check.cuh"
#include "device/step_traits.hpp"

/// thrust::reduce returns the sum itself, so it waits for the device: the harness cannot queue a sample ahead.
inline constexpr StepTraits traits{.chooses_launch = true, .waits_for_result = true};

/// Thrust leaves one sum, however many kernels it takes.
template <typename T> std::size_t grid_size(std::size_t, unsigned) { return 1; }

/// The whole reduction: the n elements at `in` become one sum at `out`. Thrust chooses grid and block itself, allocates
/// what it needs and copies the sum to the host. The harness wants it on the device, so it is copied back.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  const T sum = thrust::reduce(thrust::cuda::par, in, in + n, T{});
  reduction::cuda_check(cudaMemcpyAsync(out, &sum, sizeof(T), cudaMemcpyHostToDevice),
                        "copying Thrust's sum to the device");
}
