#include <cuda/std/functional>

#include <limits>

#include "cases.cuh"

namespace reduction {

namespace {

struct Square {
  __host__ __device__ double operator()(double value) const { return value * value; }
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

}  // namespace

std::vector<Case> other_operations() {
  return {max_case<float>("max_float32"),
          make_case<float, Indexed<float>>(
              "argmin_float32",
              [](void* storage, std::size_t& bytes, const float* in, Indexed<float>* out, std::size_t n) {
                return reduce(storage, bytes, in, out, n, ArgMin{});
              },
              [](void* storage, std::size_t& bytes, const float* in, Indexed<float>* out, std::size_t n) {
                return cub::DeviceReduce::ArgMin(storage, bytes, in, &out->value, &out->index,
                                                 static_cast<std::int64_t>(n));
              }),
          make_case<float, Extremes<float>>(
              "minmax_float32",
              [](void* storage, std::size_t& bytes, const float* in, Extremes<float>* out, std::size_t n) {
                return reduce(storage, bytes, in, out, n, MinMax{});
              },
              [](void* storage, std::size_t& bytes, const float* in, Extremes<float>* out, std::size_t n) {
                constexpr float infinity = std::numeric_limits<float>::infinity();
                return cub::DeviceReduce::TransformReduce(storage, bytes, in, out, n, BothExtremes{}, Twice{},
                                                          Extremes<float>{infinity, -infinity});
              }),
          make_case<double, double>(
              "squares_float64",
              [](void* storage, std::size_t& bytes, const double* in, double* out, std::size_t n) {
                return transform_reduce(storage, bytes, in, out, n, Sum{}, Square{});
              },
              [](void* storage, std::size_t& bytes, const double* in, double* out, std::size_t n) {
                return cub::DeviceReduce::TransformReduce(storage, bytes, in, out, n, cuda::std::plus<>{},
                                                          Square{}, 0.0);
              })};
}

}  // namespace reduction
