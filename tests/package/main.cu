/// \file
/// Reductions of a million numbers. Exit code: 0 they are right, 1 they are not, 77 there is no GPU.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <reduction/reduce.cuh>

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

struct Results {
  float least;
  double squares;
  reduction::Indexed<float> largest;
  float sum;
  reduction::Bounded<float> bounded;
};

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;

  constexpr std::size_t n = 1000003;
  float* in = nullptr;
  Results* out = nullptr;
  if (!done(cudaMallocManaged(&in, n * sizeof *in)) || !done(cudaMallocManaged(&out, sizeof *out))) return 1;
  std::fill_n(in, n, 1.0f);
  in[777777] = -2.5f;
  in[999999] = 3.0f;
  const float sum = static_cast<float>(n - 2) - 2.5f + 3.0f;  // all sums on the way are exact
  const double squares = static_cast<double>(n - 2) + 2.5 * 2.5 + 3.0 * 3.0;
  void* storage = nullptr;
  std::size_t bytes = 0;
  const bool ran = done(smallest(in, &out->least, n, nullptr)) &&
                   done(sum_of_squares(in, &out->squares, n, nullptr)) &&
                   done(largest(storage, bytes, in, &out->largest, n, nullptr)) &&
                   done(largest(storage, bytes, in, &out->largest, n, nullptr)) &&
                   done(sum_in_one_order(in, &out->sum, n, nullptr)) &&
                   done(sum_with_bound(in, &out->bounded, n, nullptr)) && done(cudaDeviceSynchronize());
  const bool is_right = ran && out->least == -2.5f && out->squares == squares && out->largest.value == 3.0f &&
                        out->largest.index == 999999 && out->sum == sum && out->bounded.value == sum &&
                        out->bounded.error_bound == 0;
  std::puts(is_right ? "right" : "wrong");
  cudaFree(storage);
  cudaFree(out);
  cudaFree(in);
  return is_right ? 0 : 1;
}
