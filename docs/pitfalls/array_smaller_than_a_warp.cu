#include <cstdio>

__device__ int sum_of_warp(int value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

/// Meant to leave a block's sum in out[0].
template <unsigned block> __global__ void sum(const int* in, int* out) {
  __shared__ int sums[block / 32];
  const unsigned tid = threadIdx.x;
  const int own = sum_of_warp(in[tid]);
  if (tid % 32 == 0) sums[tid / 32] = own;
  __syncthreads();
  if (tid < 32) {
    const int total = sum_of_warp(sums[tid]);
    if (tid == 0) out[0] = total;
  }
}

__managed__ int in[256], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<256><<<1, 256>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("256 ones: %d\n", out);
  return out != 256;
}
