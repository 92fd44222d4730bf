#include <cstdio>

/// Meant to leave the sum of 128 elements in out[block], of the last ones of n in the last block.
__global__ void sum(const int* in, int* out, unsigned n) {
  __shared__ int shared[128];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * 128 + tid;
  if (i < n) {
    shared[tid] = in[i];
    __syncthreads();
    for (unsigned stride = 64; stride > 0; stride /= 2) {
      if (tid < stride) shared[tid] += shared[tid + stride];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
  }
}

__managed__ int in[300], out[3];

int main() {
  for (int& element : in)
    element = 1;
  sum<<<3, 128>>>(in, out, 300);
  cudaDeviceSynchronize();
  std::printf("300 ones: %d + %d + %d\n", out[0], out[1], out[2]);
  return out[0] + out[1] + out[2] != 300;
}
