/// Compiled without frame pointers, as by a reader's own command line: which calls of a function an access belongs to is not
/// known then, and counts may differ, but nothing on the stack is taken for a frame that is none.
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"

namespace {

using namespace __emulated;
using deletable::__syncthreads;

/// With more numbers at hand than there are registers, none is left for a frame pointer.
__noinline__ __device__ unsigned mix(const unsigned* in, unsigned i) {
  const unsigned a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3], e = in[i + 4], f = in[i + 5];
  const unsigned g = in[i + 6], h = in[i + 7];
  return (a ^ b) * (c | d) + (e & f) * (g + h) + a * b + c * d + e * f + g * h;
}

__noinline__ __device__ unsigned mix_deeply(const unsigned* in, unsigned i, unsigned depth) {
  return depth == 0 ? mix(in, i) : mix_deeply(in, i, depth - 1) + in[depth];
}

__global__ void mix_in_branches(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = threadIdx.x % 2 == 0 ? mix(in, threadIdx.x) : mix_deeply(in, threadIdx.x, 5);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

TEST(WithoutFramePointers, KernelsRunToTheirEnd) {
  DeviceArray<unsigned> in{72}, out{64};
  for (unsigned i = 0; i < 72; ++i)
    in[i] = i * 2654435761U;
  const Counters counted = counters_of([&] { mix_in_branches<<<1, 64>>>(in, out); });
  EXPECT_EQ(counted.global_load_lanes, 32U * 8 + 32 * 13);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned deep = in[1] + in[2] + in[3] + in[4] + in[5];
    EXPECT_EQ(out[63 - i], mix(in.begin(), i) + (i % 2 == 0 ? 0 : deep)) << i;
  }
  DeviceArray<unsigned> short_in{70};
  expect_findings({{"out of bounds in mix_in_branches: block 0, thread 63 reads 4-byte word 70",
                    [&] { mix_in_branches<<<1, 64>>>(short_in, out); }}});
}

__device__ int compare(const void* one, const void* other) {
  return *static_cast<const int*>(one) - *static_cast<const int*>(other);
}

__global__ void sort_by_the_library(int* values) {
  qsort(values + threadIdx.x * 16, 16, sizeof(int), compare);
}

/// What a library's function calls comes from frames of which nothing is known.
TEST(WithoutFramePointers, AFunctionMayBeCalledByALibrary) {
  DeviceArray<int> values{64};
  for (int i = 0; i < 64; ++i)
    values[static_cast<unsigned>(i)] = i * 37 % 64;
  const Counters counted = counters_of([&] { sort_by_the_library<<<1, 4>>>(values); });
  EXPECT_GT(counted.global_load_lanes, 2U * 4 * 16);
  for (unsigned i = 1; i < 64; ++i)
    EXPECT_TRUE(i % 16 == 0 || values[i - 1] < values[i]) << i;
}

}  // namespace
