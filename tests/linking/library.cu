/// \file
/// One of two libraries that reduce in the same way, for different architectures: each has its function, SUM.
/// linking_test.py builds them.

#include <cuda_runtime.h>

#include <cstddef>
#include <reduction/reduce.cuh>

cudaError_t SUM(const unsigned* in, unsigned* out, std::size_t n) {
  std::size_t bytes = 0;
  cudaError_t status = reduction::reduce(nullptr, bytes, in, out, n, reduction::Sum{});
  if (status != cudaSuccess) return status;
  void* storage = nullptr;
  status = cudaMalloc(&storage, bytes);
  if (status != cudaSuccess) return status;
  status = reduction::reduce(storage, bytes, in, out, n, reduction::Sum{});
  cudaFree(storage);  // waits for the reduction
  return status;
}
