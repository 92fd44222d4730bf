// Three kernels for warps of 32 and of 64 lanes: docs/amd.md says what each had to change.
//   hipcc --offload-arch=gfx90a -O3 -c kernels.hip
// A block has a multiple of warpSize threads, up to 1024, and a power of two.
#include <hip/hip_runtime.h>

/// All lanes of the warp see what each has stored. They run in lockstep, but the compiler may move an access.
__device__ inline void sync_warp() {
#if HIP_VERSION_MAJOR >= 7
  __syncwarp();
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}

/// 05: the last warp needs no barrier of the block.
__global__ void last_warp_unrolled(const int* in, int* out, size_t n) {
  __shared__ int shared[1024];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x * 2 + tid;

  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  shared[tid] = sum;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > warpSize; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid < warpSize) {
    sum = shared[tid];
    for (unsigned stride = warpSize; stride > 0; stride /= 2) {
      if (stride < blockDim.x) sum += shared[tid ^ stride];
      sync_warp();
      shared[tid] = sum;
      sync_warp();
    }
  }
  if (tid == 0) out[blockIdx.x] = sum;
}

/// 08: lanes read each other's registers.
__device__ int warp_sum(int sum) {
  for (unsigned stride = warpSize / 2; stride > 0; stride /= 2)
    sum += __shfl_down(sum, stride);
  return sum;
}

__global__ void by_shuffles(const int* in, int* out, size_t n) {
  __shared__ int sums[1024 / 32];  // one per warp; of 64 lanes there are at most half as many
  const unsigned tid = threadIdx.x;

  int sum = 0;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + tid; i < n; i += size_t{gridDim.x} * blockDim.x)
    sum += in[i];
  sum = warp_sum(sum);
  if (tid % warpSize == 0) sums[tid / warpSize] = sum;
  __syncthreads();
  if (tid < warpSize) sum = warp_sum(tid < blockDim.x / warpSize ? sums[tid] : 0);
  if (tid == 0) out[blockIdx.x] = sum;
}

/// Copies the positive elements, in any order. Each warp takes its place in `out` by one atomic.
__global__ void keep_positive(const int* in, int* out, unsigned* kept, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % warpSize;
  const bool keeps = i < n && in[i] > 0;

  const unsigned long long keepers = __ballot(keeps);
  unsigned place = lane == 0 ? atomicAdd(kept, __popcll(keepers)) : 0;
  place = __shfl(place, 0) + __popcll(keepers & ((1ull << lane) - 1));
  if (keeps) out[place] = in[i];
}
