/// \file
/// One sum.

#include <cuda_runtime.h>

#include <cstddef>
#include <reduction/reduce.cuh>

cudaError_t sum(const float* in, float* out, std::size_t n, cudaStream_t stream) {
  return reduction::reduce(in, out, n, reduction::Sum{}, stream);
}
