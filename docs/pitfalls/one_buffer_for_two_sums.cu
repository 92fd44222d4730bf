#include <cstdio>

/// Meant to return the block's sum to each of its threads.
__device__ int sum_of_block(int value) {
  __shared__ int sums[32];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  int total = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
    total += sums[warp];
  return total;
}

/// Meant to leave in out[0] the squared distances of a block's elements to their mean, summed.
__global__ void squares(const int* in, int* out) {
  const int mean = sum_of_block(in[threadIdx.x]) / static_cast<int>(blockDim.x);
  const int distance = in[threadIdx.x] - mean;
  const int total = sum_of_block(distance * distance);
  if (threadIdx.x == 0) out[0] = total;
}

__managed__ int in[256], out;

int main() {
  for (int i = 0; i < 256; ++i)
    in[i] = i % 2 * 2;
  squares<<<1, 256>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("256 squares of 1: %d\n", out);
  return out != 256;
}
