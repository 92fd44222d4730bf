#include <cstdio>

__device__ unsigned tickets;

/// Meant to leave the sum of all elements in out[0]: the block that takes the last ticket adds up all blocks' sums.
__global__ void sum(const int* in, int* partial, int* out) {
  __shared__ int shared[64];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[blockIdx.x * 64 + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid != 0) return;
  partial[blockIdx.x] = shared[0];
  const bool is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  if (!is_last) return;
  int total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block)
    total += partial[block];
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
