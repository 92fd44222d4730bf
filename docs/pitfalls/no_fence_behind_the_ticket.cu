#include <cstdio>

__device__ unsigned blocks_done;

/// Meant to leave the sum of all elements in out[0]: the threads of the block that is done last read all blocks' sums.
__global__ void sum(const int* in, int* partial, int* out) {
  __shared__ int shared[64];
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x;
  shared[tid] = in[blockIdx.x * 64 + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) {
    partial[blockIdx.x] = shared[0];
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if (tid < gridDim.x) shared[tid] = partial[tid];
  __syncthreads();
  if (tid != 0) return;
  int total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block)
    total += shared[block];
  out[0] = total;
}

__managed__ int in[256], partial[4], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<4, 64>>>(in, partial, &out);
  cudaDeviceSynchronize();
  std::printf("256 ones: %d\n", out);
  return out != 256;
}
