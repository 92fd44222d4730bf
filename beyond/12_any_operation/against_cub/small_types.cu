#include <cuda/std/functional>

#include <cstdint>

#include "cases.cuh"

namespace reduction {

namespace {

/// The sum of small floating-point numbers as a float. CUB accumulates in what its operation returns.
template <typename T> Case small_float_sum_case(const char* name) {
  return make_case<T, float>(
      name,
      [](void* storage, std::size_t& bytes, const T* in, float* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, Sum{});
      },
      [](void* storage, std::size_t& bytes, const T* in, float* out, std::size_t n) {
        return cub::DeviceReduce::Reduce(storage, bytes, in, out, n, cuda::std::plus<float>{}, 0.0f);
      });
}

}  // namespace

std::vector<Case> small_types() {
  return {min_case<std::int8_t>("min_int8"),
          sum_case<std::int8_t>("sum_int8"),
          sum_case<std::int8_t, std::int32_t>("sum_int8_in_int32"),
          max_case<std::uint8_t>("max_uint8"),
          max_case<std::int16_t>("max_int16"),
          sum_case<std::int16_t>("sum_int16"),
          sum_case<std::int16_t, std::int32_t>("sum_int16_in_int32"),
          max_case<__half>("max_half"),
          small_float_sum_case<__half>("sum_half_in_float32"),
          small_float_sum_case<__nv_bfloat16>("sum_bfloat16_in_float32")};
}

}  // namespace reduction
