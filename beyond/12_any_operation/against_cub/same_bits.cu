#include "cases.cuh"

namespace reduction {
namespace {

/// A sum in the order of SameBits against CUB's, whose order depends on the GPU.
template <typename T> Case same_bits_case(const char* name) {
  return make_case<T, T>(
      name,
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, SameBits{Sum{}});
      },
      [](void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n) {
        return cub::DeviceReduce::Sum(storage, bytes, in, out, n);
      });
}

/// A sum with the bound of its error against CUB's, which says nothing of it.
template <typename T> Case compensated_case(const char* name) {
  return make_case<T, Bounded<T>>(
      name,
      [](void* storage, std::size_t& bytes, const T* in, Bounded<T>* out, std::size_t n) {
        return reduce(storage, bytes, in, out, n, CompensatedSum{});
      },
      [](void* storage, std::size_t& bytes, const T* in, Bounded<T>* out, std::size_t n) {
        return cub::DeviceReduce::Sum(storage, bytes, in, &out->value, n);
      });
}

}  // namespace

std::vector<Case> sums_with_promises() {
  return {same_bits_case<float>("same_bits_float32"), same_bits_case<double>("same_bits_float64"),
          compensated_case<float>("compensated_float32"), compensated_case<double>("compensated_float64")};
}

}  // namespace reduction
