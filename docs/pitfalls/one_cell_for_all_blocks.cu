#include <cstdio>

/// Meant to leave the sum of 64 elements in out[block].
__global__ void sum(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[blockIdx.x * 64 + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) *out = shared[blockIdx.x];
}

__managed__ int in[256], out[4];

int main() {
  for (int& element : in)
    element = 1;
  sum<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d to %d\n", out[0], out[3]);
  return out[0] != 64 || out[3] != 64;
}
