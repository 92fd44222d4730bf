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
  const double squares = static_cast<double>(numbers.size() - 2) + 2.5 * 2.5 + 3.0 * 3.0;
  float* in = nullptr;
  float* out = nullptr;
  double* out_squares = nullptr;
  reduction::Indexed<float>* out_largest = nullptr;
  void* storage = nullptr;
  std::size_t bytes = 0;
  float least = 0;
  double sum = 0;
  reduction::Indexed<float> most{};
  const bool ran =
      done(cudaMalloc(&in, numbers.size() * sizeof(float))) && done(cudaMalloc(&out, sizeof least)) &&
      done(cudaMalloc(&out_squares, sizeof sum)) && done(cudaMalloc(&out_largest, sizeof most)) &&
      done(cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice)) &&
      done(smallest(in, out, numbers.size(), nullptr)) &&
      done(sum_of_squares(in, out_squares, numbers.size(), nullptr)) &&
      done(largest(storage, bytes, in, out_largest, numbers.size(), nullptr)) &&
      done(largest(storage, bytes, in, out_largest, numbers.size(), nullptr)) &&
      done(cudaMemcpy(&least, out, sizeof least, cudaMemcpyDeviceToHost)) &&
      done(cudaMemcpy(&sum, out_squares, sizeof sum, cudaMemcpyDeviceToHost)) &&
      done(cudaMemcpy(&most, out_largest, sizeof most, cudaMemcpyDeviceToHost));
  cudaFree(storage);
  cudaFree(out_largest);
  cudaFree(out_squares);
  cudaFree(out);
  cudaFree(in);
  std::printf("smallest %g, sum of squares %.2f, largest %g at %lld; expected -2.5, %.2f, 3 at 999999\n",
              least, sum, most.value, most.index, squares);
  return ran && least == -2.5f && sum == squares && most.value == 3.0f && most.index == 999999 ? 0 : 1;
}
