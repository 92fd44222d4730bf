/// \file
/// reduction/rows.cuh, with all of reduce.cuh, after others' names: header_matrix_test.py writes traps.cuh, where the namespace `traps` has a
/// deleted function for each name that the header calls.

#include <cuda_runtime.h>
#include <thrust/complex.h>  // with it, thrust has a namespace `cuda`
#include <thrust/functional.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace traps {

struct Number {
  float value;
  void operator&() const = delete;
};

}  // namespace traps

#include "traps.cuh"

using namespace std;
using namespace thrust;

// As windows.h has them, and others.
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) < (b) ? (b) : (a))

#include <reduction/rows.cuh>

namespace traps {

/// Functions of this namespace are found for calls with these, or with templates of them.
struct Add {
  __host__ __device__ Number operator()(const Number& a, const Number& b) const {
    return {a.value + b.value};
  }
  template <typename A> static __host__ __device__ A identity() { return A{0}; }
};

struct Halve {
  __host__ __device__ Number operator()(const Number& a) const { return {a.value / 2}; }
};

}  // namespace traps

using namespace reduction;
using traps::Add, traps::Halve, traps::Number;

cudaError_t caught(const Number* in, Number* out, const float* floats, size_t n, cudaStream_t stream) {
  size_t bytes = 0;
  cudaError_t status = reduction::reduce(nullptr, bytes, in, out, n, Add{}, Number{1}, stream);
  if (status == cudaSuccess) status = reduction::reduce(in, out, n, WithIdentity{Add{}, Number{0}});
  if (status == cudaSuccess) status = reduction::transform_reduce(in, out, n, Add{}, Halve{}, stream);
  if (status == cudaSuccess) status = reduction::reduce(floats, const_cast<float*>(floats), n, Min{});
  if (status == cudaSuccess)
    status = reduction::reduce(floats, static_cast<Indexed<float>*>(nullptr), n, ArgMin{}, stream);
  if (status == cudaSuccess) status = reduction::reduce_rows(in, out, n, n, n, Add{}, Number{1}, stream);
  if (status == cudaSuccess) status = reduction::reduce_rows(in, out, n, n, n, SameBits<Add>{});
  if (status == cudaSuccess)
    status = reduction::transform_reduce_columns(in, out, n, n, n, Add{}, Halve{}, stream);
  return status;
}
