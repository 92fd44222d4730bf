#include "against_cub.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/std/complex>
#include <cuda/std/functional>

#include <cmath>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "device/cuda_check.cuh"
#include "harness/grid_stride.cuh"
#include "harness/input.hpp"
#include "reduction/reduce.cuh"

namespace reduction {

namespace {

/// The real numbers that an element is one of, or two.
template <typename T> struct RealOf { using type = T; };
template <typename Real> struct RealOf<cuda::std::complex<Real>> { using type = Real; };

/// Writes small whole numbers whose mean is 0. Their sums stay far below 2^24, so that each is exact, in whatever order it
/// is added: what one library leaves has to be what the other leaves. One, -8, is less than all others, and one, 8, is
/// more: a minimum is in one place only. Unsigned numbers are all 8 higher.
template <typename Real>
__global__ void fill_kernel(Real* data, std::size_t n, std::uint64_t seed, std::size_t smallest,
                            std::size_t largest) {
  for (std::size_t i = grid_stride_start(); i < n; i += grid_stride_step()) {
    int number = 2 * static_cast<int>(random_bits(seed, i) >> 61) - 7;
    if (i == largest) number = 8;
    if (i == smallest) number = -8;
    data[i] = static_cast<Real>(std::is_unsigned_v<Real> ? number + 8 : number);
  }
}

template <typename T> void fill(void* data, std::size_t n, std::uint64_t seed) {
  using Real = typename RealOf<T>::type;
  n *= sizeof(T) / sizeof(Real);
  fill_kernel<<<helper_grid(n), helper_block>>>(static_cast<Real*>(data), n, seed, random_bits(~seed, 0) % n,
                                                random_bits(~seed, 1) % n);
  cuda_check(cudaGetLastError(), "filling the input");
  cuda_check(cudaDeviceSynchronize(), "filling the input");
}

template <typename T> Numbers numbers(T result) { return {static_cast<double>(result)}; }
template <> Numbers numbers(__half result) { return {__half2float(result)}; }
template <typename T> Numbers numbers(cuda::std::complex<T> sum) { return {sum.real(), sum.imag()}; }
template <typename T> Numbers numbers(Extremes<T> found) { return {found.smallest, found.largest}; }
template <typename T> Numbers numbers(Indexed<T> found) {
  return {found.value, static_cast<double>(found.index)};
}
/// CUB's sum has no bound, and ours, of small whole numbers, is exact.
template <typename T> Numbers numbers(Bounded<T> sum) { return {sum.value}; }

/// Makes a Call of a callable that takes the same with the types of elements and result, and returns a cudaError_t.
template <typename In, typename Out, typename Reduce> Call call(const char* doing, Reduce reduce) {
  return [=](void* storage, std::size_t& bytes, const void* data, void* result, std::size_t n) {
    const auto in = static_cast<const In*>(data);
    const auto out = static_cast<Out*>(result);
    cuda_check(reduce(storage, bytes, in, out, n), doing);
  };
}

template <typename In, typename Out = In, typename Ours, typename Cub>
Case make_case(const char* name, Ours ours, Cub cub) {
  const auto read = [](const void* result) {
    Out out;
    std::memcpy(&out, result, sizeof(Out));
    return numbers(out);
  };
  return {name, sizeof(In), sizeof(Out), fill<In>, call<In, Out>(name, ours), call<In, Out>(name, cub), read};
}

/// Our half of a case.
template <typename Operation> auto ours(Operation operation) {
  return [operation](auto&... call) { return reduce(call..., operation); };
}

// CUB's halves. It accumulates in what its operation returns, and its sum says nothing of the error.
constexpr auto cub_sum = [](auto&... call) { return cub::DeviceReduce::Sum(call...); };
constexpr auto cub_min = [](auto&... call) { return cub::DeviceReduce::Min(call...); };
constexpr auto cub_max = [](auto&... call) { return cub::DeviceReduce::Max(call...); };
constexpr auto cub_sum_in_float = [](auto&... call) {
  return cub::DeviceReduce::Reduce(call..., cuda::std::plus<float>{}, 0.0f);
};
constexpr auto cub_value = [](void* storage, std::size_t& bytes, auto* in, auto* out, std::size_t n) {
  return cub::DeviceReduce::Sum(storage, bytes, in, &out->value, n);
};
constexpr auto cub_argmin = [](void* storage, std::size_t& bytes, auto* in, auto* out, std::size_t n) {
  return cub::DeviceReduce::ArgMin(storage, bytes, in, &out->value, &out->index,
                                   static_cast<std::int64_t>(n));
};

// CUB has no such operation, so it is put together as its users would.
struct BothExtremes {
  __device__ Extremes<float> operator()(const Extremes<float>& a, const Extremes<float>& b) const {
    return {fminf(a.smallest, b.smallest), fmaxf(a.largest, b.largest)};
  }
};
struct Twice {
  __device__ Extremes<float> operator()(float value) const { return {value, value}; }
};
constexpr auto cub_minmax = [](auto&... call) {
  constexpr Extremes<float> none{INFINITY, -INFINITY};
  return cub::DeviceReduce::TransformReduce(call..., BothExtremes{}, Twice{}, none);
};

struct Square {
  __host__ __device__ double operator()(double value) const { return value * value; }
};
constexpr auto our_squares = [](auto&... call) { return transform_reduce(call..., Sum{}, Square{}); };
constexpr auto cub_squares = [](auto&... call) {
  return cub::DeviceReduce::TransformReduce(call..., cuda::std::plus<>{}, Square{}, 0.0);
};

}  // namespace

std::vector<Case> all_cases() {
  return {
      make_case<std::int32_t>("sum_int32", ours(Sum{}), cub_sum),
      make_case<std::int64_t>("sum_int64", ours(Sum{}), cub_sum),
      make_case<float>("sum_float32", ours(Sum{}), cub_sum),
      make_case<double>("sum_float64", ours(Sum{}), cub_sum),
      make_case<cuda::std::complex<float>>("sum_complex64", ours(Sum{}), cub_sum),
      make_case<cuda::std::complex<double>>("sum_complex128", ours(Sum{}), cub_sum),
      make_case<float>("same_bits_float32", ours(SameBits{Sum{}}), cub_sum),
      make_case<double>("same_bits_float64", ours(SameBits{Sum{}}), cub_sum),
      make_case<float, Bounded<float>>("compensated_float32", ours(CompensatedSum{}), cub_value),
      make_case<double, Bounded<double>>("compensated_float64", ours(CompensatedSum{}), cub_value),
      make_case<std::int8_t>("min_int8", ours(Min{}), cub_min),
      make_case<std::int8_t>("sum_int8", ours(Sum{}), cub_sum),
      make_case<std::int8_t, std::int32_t>("sum_int8_in_int32", ours(Sum{}), cub_sum),
      make_case<std::uint8_t>("max_uint8", ours(Max{}), cub_max),
      make_case<std::int16_t>("max_int16", ours(Max{}), cub_max),
      make_case<std::int16_t>("sum_int16", ours(Sum{}), cub_sum),
      make_case<std::int16_t, std::int32_t>("sum_int16_in_int32", ours(Sum{}), cub_sum),
      make_case<__half>("max_half", ours(Max{}), cub_max),
      make_case<__half, float>("sum_half_in_float32", ours(Sum{}), cub_sum_in_float),
      make_case<__nv_bfloat16, float>("sum_bfloat16_in_float32", ours(Sum{}), cub_sum_in_float),
      make_case<float>("max_float32", ours(Max{}), cub_max),
      make_case<float, Indexed<float>>("argmin_float32", ours(ArgMin{}), cub_argmin),
      make_case<float, Extremes<float>>("minmax_float32", ours(MinMax{}), cub_minmax),
      make_case<double>("squares_float64", our_squares, cub_squares),
  };
}

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace reduction
