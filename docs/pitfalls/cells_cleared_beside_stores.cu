#include <cstdio>

__device__ int sum_of_warp(int value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

/// Meant to leave a block's sum in out[0]. The block has 32 warps at most: what is left of the cells stays 0.
__global__ void sum(const int* in, int* out) {
  __shared__ int sums[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) sums[lane] = 0;
  const int own = sum_of_warp(in[threadIdx.x]);
  if (lane == 0) sums[warp] = own;
  __syncthreads();
  const int total = sum_of_warp(sums[lane]);
  if (threadIdx.x == 0) out[0] = total;
}

__managed__ int in[128], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 128>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("128 ones: %d\n", out);
  return out != 128;
}
