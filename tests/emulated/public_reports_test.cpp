/// Mistakes that others have reported in public, each in a kernel of a screen, and what is found there.
/// (pytorch#128455 is a pitfall: no_fence_behind_the_ticket.)
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Floats = DeviceArray<float>;
using Ints = DeviceArray<int>;

__device__ float sum_of_warp(float sum) {
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  return sum;
}

// ---- sums of warps in shared memory ----

__global__ void clear_beside_stores(const float* in, float* out) {
  __shared__ float sums[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) sums[lane] = 0;  // clear
  const float sum = sum_of_warp(in[threadIdx.x]);
  if (lane == 0) sums[warp] = sum;  // store
  __syncthreads();
  const float total = sum_of_warp(sums[lane]);
  if (threadIdx.x == 0) *out = total;
}

TEST(PublicReports, KarpathyLlmC847) {
  // race in clear_beside_stores: block 0, thread ... writes sums[...] at clear; block 0, thread ... writes it at store
  expect_finding([] { clear_beside_stores<<<1, 128>>>(Floats(128, 1), Floats(1)); });
}

template <bool barrier> __global__ void center(const float* in, float* out) {
  __shared__ float sums[8];
  const auto sum_of_block = [&](float value) {
    const float sum = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;  // store
    __syncthreads();
    float total = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
      total += sums[warp];  // read
    return total;
  };
  const float mean = sum_of_block(in[threadIdx.x]) / static_cast<float>(blockDim.x);
  if (barrier) __syncthreads();
  const float distance = in[threadIdx.x] - mean;
  const float squares = sum_of_block(distance * distance);
  if (threadIdx.x == 0) *out = squares;
}

TEST(PublicReports, LlamaCpp26385AndCudf13485) {
  // race in center: block 0, thread ... sums[...] at store; block 0, thread ... it at read
  expect_finding([] { center<false><<<1, 256>>>(Floats(256, 1), Floats(1)); });
  // no finding
  expect_finding([] { center<true><<<1, 256>>>(Floats(256, 1), Floats(1)); });
}

__global__ void sum_by_all_lanes(const float* in, float* out) {
  __shared__ float sums[8];
  const float sum = sum_of_warp(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float total = sum_of_warp(sums[threadIdx.x]);  // read
  if (threadIdx.x == 0) *out = total;
}

TEST(PublicReports, LeetCuda419) {
  // out of bounds in sum_by_all_lanes: block 0, thread ... reads sums[...] (sums has 8 elements) at read
  expect_finding([] { sum_by_all_lanes<<<1, 256>>>(Floats(256, 1), Floats(1)); });
}

/// Right by the language, wrong by the sum: 6 is no power of two.
__global__ void sum_six_by_butterfly(const float* in, float* out) {
  __shared__ float sums[6];
  const unsigned lane = threadIdx.x % 32;
  const float sum = sum_of_warp(in[threadIdx.x]);
  if (lane == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = lane < 6 ? sums[lane] : 0;
  for (int mask = 6 / 2; mask > 0; mask /= 2)
    total += __shfl_xor_sync(0xffffffff, total, mask);
  if (threadIdx.x == 0) *out = total;
}

TEST(PublicReports, LeetCuda357) {
  const Floats out{1};
  // no finding
  expect_finding([&] { sum_six_by_butterfly<<<1, 192>>>(Floats(192, 1), out); });
  EXPECT_EQ(*out, 128);
}

// ---- the last warp ----

__global__ void sum_in_a_volatile_tail(const int* in, int* out) {
  __shared__ int cells[64];
  const unsigned tid = threadIdx.x;
  cells[tid] = in[tid];
  __syncthreads();
  if (tid < 32) {
    volatile int* const tail = cells;
    for (unsigned offset = 32; offset > 0; offset /= 2)
      tail[tid] += tail[tid + offset];  // tail
  }
  if (tid == 0) *out = cells[0];
}

/// The fix that was proposed there: it leaves out what each lane has itself.
__global__ void sum_in_a_tail_of_shuffles(const int* in, int* out) {
  __shared__ int cells[64];
  const unsigned tid = threadIdx.x;
  cells[tid] = in[tid];
  __syncthreads();
  if (tid >= 32) return;
  int sum = cells[tid + 32];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (tid == 0) *out = sum;
}

TEST(PublicReports, HeCBench91) {
  // race in sum_in_a_volatile_tail: ... at tail; ... at tail; help: put a `__syncwarp()`
  expect_finding([] { sum_in_a_volatile_tail<<<1, 64>>>(Ints(64, 1), Ints(1)); });
  const Ints out{1};
  // no finding
  expect_finding([&] { sum_in_a_tail_of_shuffles<<<1, 64>>>(Ints(64, 1), out); });
  EXPECT_EQ(*out, 32);
}

// ---- memory of all blocks ----

__global__ void sum_columns(const float* in, float* out, unsigned rows, unsigned width) {
  const unsigned column = blockIdx.x * 32 + threadIdx.x;
  if (column >= rows * width) return;
  float sum = 0;
  for (unsigned row = 0; row < rows; ++row)
    sum += in[row * width + column];  // read
  out[column] = sum;
}

TEST(PublicReports, DeepSpeed804) {
  // no finding
  expect_finding([] { sum_columns<<<2, 32>>>(Floats(16 * 64), Floats(64), 16U, 64U); });
  // out of bounds in sum_columns: block 1, thread ... reads 4-byte word ... of a global buffer (640 words) at read
  expect_finding([] { sum_columns<<<2, 32>>>(Floats(16 * 40), Floats(40), 16U, 40U); });
}

__global__ void clear_and_add(const int* in, int* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0;  // clear
  __syncthreads();
  atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);  // add
}

TEST(PublicReports, FastCuSum) {
  // race in clear_and_add: block 0, thread 0 writes ... at clear; block 1, thread ... atomically updates it at add
  expect_finding([] { clear_and_add<<<4, 64>>>(Ints(256, 1), Ints(1)); });
}

/// NVIDIA's sample reductionMultiBlockCG: block 0 adds up what all have left behind a barrier of the grid.
__global__ void sum_across_a_grid_barrier(const int* in, int* sums) {
  const auto grid = cooperative_groups::this_grid();
  int sum = in[grid.thread_rank()];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  grid.sync();
  if (grid.thread_rank() != 0) return;
  for (unsigned block = 1; block < gridDim.x; ++block)
    sum += sums[block];
  sums[0] = sum;
}

TEST(PublicReports, NvidiaReductionMultiBlockCG) {
  const Ints in(256, 1), sums(8);
  int* arguments[] = {in.begin(), sums.begin()};
  void* pointers[] = {&arguments[0], &arguments[1]};
  // no finding
  expect_finding([&] {
    cudaLaunchCooperativeKernel(sum_across_a_grid_barrier, 8, 32, pointers);
    EXPECT_EQ(sums[0], 256);
  });
}

}  // namespace
