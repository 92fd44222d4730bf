#pragma once
/// \file
/// What docs/amd/kernels.hip takes of HIP, with a thread of the CPU per lane, and LANES lanes in a warp.

#include <atomic>
#include <barrier>
#include <bit>
#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __shared__ static  // blocks run one after the other
#define HIP_VERSION_MAJOR 7

using std::size_t;

struct Index {
  unsigned x;
};
constexpr unsigned warpSize = LANES;
inline Index gridDim, blockDim, blockIdx;
inline thread_local Index threadIdx;
inline thread_local std::barrier<>*block, *warp;
inline unsigned long long brought[1024];

inline void __syncthreads() { block->arrive_and_wait(); }
inline void __syncwarp() { warp->arrive_and_wait(); }

template <typename T> T __shfl(T value, unsigned lane) {
  brought[threadIdx.x] = static_cast<unsigned long long>(value);
  __syncwarp();
  value = static_cast<T>(brought[threadIdx.x / warpSize * warpSize + lane]);
  __syncwarp();
  return value;
}
template <typename T> T __shfl_down(T value, unsigned by) {
  const unsigned lane = threadIdx.x % warpSize;
  return __shfl(value, lane + by < warpSize ? lane + by : lane);
}
inline unsigned long long __ballot(bool predicate) {
  unsigned long long mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= __shfl(static_cast<unsigned long long>(predicate), lane) << lane;
  return mask;
}
inline unsigned __popcll(unsigned long long mask) { return static_cast<unsigned>(std::popcount(mask)); }
inline unsigned atomicAdd(unsigned* to, unsigned value) { return std::atomic_ref(*to).fetch_add(value); }

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), unsigned grid, unsigned threads, Arguments... arguments) {
  gridDim = {grid}, blockDim = {threads};
  for (blockIdx = {0}; blockIdx.x < grid; ++blockIdx.x) {
    std::barrier all{threads};
    std::deque<std::barrier<>> warps;
    std::vector<std::jthread> lanes;
    for (unsigned tid = 0; tid < threads; ++tid) {
      if (tid % warpSize == 0) warps.emplace_back(warpSize);
      lanes.emplace_back([=, &all, own = &warps.back()] {
        threadIdx = {tid}, block = &all, warp = own;
        kernel(arguments...);
      });
    }
  }
}
