/// \file
/// Reductions of a million numbers. Exit code: 0 they are right, 1 they are not, 77 there is no GPU.

#include <cuda_runtime.h>

#include <cstdio>
#include <reduction/reduce.cuh>
#include <vector>

/// The smallest of n numbers.
cudaError_t smallest(const float* in, float* out, std::size_t n, cudaStream_t stream) {
  return reduction::reduce(in, out, n, reduction::Min{}, stream);
}

struct Square {
  __device__ double operator()(double x) const { return x * x; }
};

/// The sum of their squares, in double precision.
cudaError_t sum_of_squares(const float* in, double* out, std::size_t n, cudaStream_t stream) {
  return reduction::transform_reduce(in, out, n, reduction::Sum{}, Square{}, stream);
}

/// The largest and where it is, with storage that the caller keeps; at first `storage` is null.
cudaError_t largest(void*& storage, std::size_t& bytes, const float* in, reduction::Indexed<float>* out,
                    std::size_t n, cudaStream_t stream) {
  if (storage == nullptr) {
    cudaError_t status = reduction::reduce(nullptr, bytes, in, out, n, reduction::ArgMax{}, stream);
    if (status == cudaSuccess) status = cudaMalloc(&storage, bytes);
    if (status != cudaSuccess) return status;
  }
  return reduction::reduce(storage, bytes, in, out, n, reduction::ArgMax{}, stream);
}

/// Their sum, with the same bits on every GPU.
cudaError_t sum_in_one_order(const float* in, float* out, std::size_t n, cudaStream_t stream) {
  return reduction::reduce(in, out, n, reduction::SameBits{reduction::Sum{}}, stream);
}

/// Their sum and a bound of its error. In SameBits{...} these two would have the same bits on every GPU, too.
cudaError_t sum_with_bound(const float* in, reduction::Bounded<float>* out, std::size_t n,
                           cudaStream_t stream) {
  return reduction::reduce(in, out, n, reduction::CompensatedSum{}, stream);
}

/// An error is a line on stderr.
bool done(cudaError_t status) {
  if (status != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  return status == cudaSuccess;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;

  std::vector<float> numbers(1000003, 1.0f);
  numbers[777777] = -2.5f;
  numbers[999999] = 3.0f;
  const float expected_sum =
      static_cast<float>(numbers.size() - 2) - 2.5f + 3.0f;  // all sums on the way are exact
  const double squares = static_cast<double>(numbers.size() - 2) + 2.5 * 2.5 + 3.0 * 3.0;
  float* in = nullptr;
  float* out = nullptr;
  double* out_squares = nullptr;
  reduction::Indexed<float>* out_largest = nullptr;
  reduction::Bounded<float>* out_bounded = nullptr;
  void* storage = nullptr;
  std::size_t bytes = 0;
  float least = 0;
  double sum = 0;
  float one_order = 0;
  reduction::Indexed<float> most{};
  reduction::Bounded<float> bounded{};
  const bool ran =
      done(cudaMalloc(&in, numbers.size() * sizeof(float))) && done(cudaMalloc(&out, sizeof least)) &&
      done(cudaMalloc(&out_squares, sizeof sum)) && done(cudaMalloc(&out_largest, sizeof most)) &&
      done(cudaMalloc(&out_bounded, sizeof bounded)) &&
      done(cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice)) &&
      done(smallest(in, out, numbers.size(), nullptr)) &&
      done(sum_of_squares(in, out_squares, numbers.size(), nullptr)) &&
      done(largest(storage, bytes, in, out_largest, numbers.size(), nullptr)) &&
      done(largest(storage, bytes, in, out_largest, numbers.size(), nullptr)) &&
      done(cudaMemcpy(&least, out, sizeof least, cudaMemcpyDeviceToHost)) &&
      done(sum_in_one_order(in, out, numbers.size(), nullptr)) &&
      done(cudaMemcpy(&one_order, out, sizeof one_order, cudaMemcpyDeviceToHost)) &&
      done(sum_with_bound(in, out_bounded, numbers.size(), nullptr)) &&
      done(cudaMemcpy(&bounded, out_bounded, sizeof bounded, cudaMemcpyDeviceToHost)) &&
      done(cudaMemcpy(&sum, out_squares, sizeof sum, cudaMemcpyDeviceToHost)) &&
      done(cudaMemcpy(&most, out_largest, sizeof most, cudaMemcpyDeviceToHost));
  cudaFree(storage);
  cudaFree(out_bounded);
  cudaFree(out_largest);
  cudaFree(out_squares);
  cudaFree(out);
  cudaFree(in);
  std::printf("smallest %g, sum of squares %.2f, largest %g at %lld; expected -2.5, %.2f, 3 at 999999\n",
              least, sum, most.value, most.index, squares);
  std::printf("sum %g, %g within %g; expected %g within 0\n", one_order, bounded.value, bounded.error_bound,
              expected_sum);
  const bool sums_are_right =
      one_order == expected_sum && bounded.value == expected_sum && bounded.error_bound == 0;
  return ran && sums_are_right && least == -2.5f && sum == squares && most.value == 3.0f &&
                 most.index == 999999
             ? 0
             : 1;
}
