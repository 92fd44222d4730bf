#include <cstdio>

/// Meant to leave the sum of all elements in out[0], which is 0 before; a block has 64 of them.
__global__ void sum(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[blockIdx.x * 64 + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[0] += shared[0];
}

__managed__ int in[256], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<4, 64>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("256 ones: %d\n", out);
  return out != 256;
}
