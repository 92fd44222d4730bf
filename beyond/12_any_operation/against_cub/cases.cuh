#pragma once
/// \file
/// What makes a Case of two calls on typed pointers.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/std/complex>

#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <type_traits>
#include <utility>

#include "cases.hpp"
#include "device/cuda_check.cuh"
#include "harness/grid_stride.cuh"
#include "harness/input.hpp"
#include "reduction/reduce.cuh"

namespace reduction {

template <typename T> inline constexpr bool is_complex_number = false;
template <typename Real> inline constexpr bool is_complex_number<cuda::std::complex<Real>> = true;

/// Returns one of the odd numbers from -7 to 7.
__device__ inline int small_odd_number(std::uint64_t three_bits) {
  return 2 * static_cast<int>(three_bits) - 7;
}

/// Writes small whole numbers whose mean is 0. Their sums stay far below 2^24, so that each is exact, in whatever order it
/// is added: what one library leaves has to be what the other leaves. One element, -8, is less than all others, and one,
/// 8, is more: a minimum is in one place only. Unsigned numbers are all 8 higher.
template <typename T>
__global__ void fill_case_kernel(T* data, std::uint64_t n, std::uint64_t seed, std::uint64_t smallest,
                                 std::uint64_t largest) {
  for (std::size_t i = grid_stride_start(); i < n; i += grid_stride_step()) {
    const std::uint64_t bits = random_bits(seed, i);
    int number = small_odd_number(bits >> 61);
    if (i == largest) number = 8;
    if (i == smallest) number = -8;
    if constexpr (is_complex_number<T>) {
      using Real = typename T::value_type;
      data[i] = T(static_cast<Real>(number), static_cast<Real>(small_odd_number(bits >> 58 & 7)));
    } else {
      data[i] = static_cast<T>(std::is_unsigned_v<T> ? number + 8 : number);
    }
  }
}

template <typename T> void fill_case(T* data, std::uint64_t n, std::uint64_t seed) {
  const std::uint64_t smallest = random_bits(~seed, 0) % n;
  const std::uint64_t largest = random_bits(~seed, 1) % n;
  fill_case_kernel<<<helper_grid(n), helper_block>>>(data, n, seed, smallest, largest);
  cuda_check(cudaGetLastError(), "filling the input");
  cuda_check(cudaDeviceSynchronize(), "filling the input");
}

template <typename T> std::vector<double> components_of(const T& value) {
  if constexpr (is_complex_number<T>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {static_cast<double>(value)};
  } else {
    return {static_cast<double>(static_cast<float>(value))};  // a half or a bfloat16
  }
}

template <typename T, typename Index> std::vector<double> components_of(const Indexed<T, Index>& found) {
  return {static_cast<double>(found.value), static_cast<double>(found.index)};
}

template <typename T> std::vector<double> components_of(const Extremes<T>& found) {
  return {static_cast<double>(found.smallest), static_cast<double>(found.largest)};
}

/// CUB's sum has no bound, and ours, of small whole numbers, is exact.
template <typename T> std::vector<double> components_of(const Bounded<T>& found) {
  return {static_cast<double>(found.value)};
}

/// Makes a Call of a callable cudaError_t(void* storage, std::size_t& bytes, const In* in, Out* out, std::size_t n).
template <typename In, typename Out, typename Reduce> Call make_call(const char* doing, Reduce reduce) {
  return [doing, reduce](void* storage, std::size_t& bytes, const void* in, void* out, std::size_t n) {
    cuda_check(reduce(storage, bytes, static_cast<const In*>(in), static_cast<Out*>(out), n), doing);
  };
}

/// Makes a case of two such callables: first ours, then CUB's.
template <typename In, typename Out, typename Ours, typename Cub>
Case make_case(std::string name, Ours ours, Cub cub) {
  Case made;
  made.name = std::move(name);
  made.element_bytes = sizeof(In);
  made.result_bytes = sizeof(Out);
  made.fill = [](void* in, std::uint64_t n, std::uint64_t seed) { fill_case(static_cast<In*>(in), n, seed); };
  made.ours = make_call<In, Out>("calling reduction::reduce", ours);
  made.cub = make_call<In, Out>("calling cub::DeviceReduce", cub);
  made.components = [](const void* result) {
    Out out;
    std::memcpy(&out, result, sizeof(Out));
    return components_of(out);
  };
  return made;
}

/// A sum in the type of the result.
template <typename In, typename Out = In> Case sum_case(const char* name) {
  return make_case<In, Out>(
      name,
      [](void* storage, std::size_t& bytes, const In* in, Out* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, Sum{});
      },
      [](void* storage, std::size_t& bytes, const In* in, Out* out, std::size_t n) {
        return cub::DeviceReduce::Sum(storage, bytes, in, out, n);
      });
}

template <typename T> Case min_case(const char* name) {
  return make_case<T, T>(
      name,
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, Min{});
      },
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return cub::DeviceReduce::Min(storage, bytes, in, out, n);
      });
}

template <typename T> Case max_case(const char* name) {
  return make_case<T, T>(
      name,
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, Max{});
      },
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return cub::DeviceReduce::Max(storage, bytes, in, out, n);
      });
}

}  // namespace reduction
