/// \file
/// One sum.

#include <cuda_runtime.h>

#include <cstddef>
#include <reduction/reduce.cuh>

cudaError_t sum(void* storage, std::size_t& bytes, const float* in, float* out, std::size_t n,
                cudaStream_t stream) {
  return reduction::reduce(storage, bytes, in, out, n, reduction::Sum{}, stream);
}
