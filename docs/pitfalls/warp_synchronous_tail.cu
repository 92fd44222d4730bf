#include <cstdio>

/// Meant to leave a block's sum in out[0]. The block has 64 threads.
__global__ void sum(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  if (tid < 32) {
    for (unsigned offset = 32; offset > 0; offset /= 2) {
      shared[tid] += shared[tid + offset];
    }
  }
  if (tid == 0) out[0] = shared[0];
}

__managed__ int in[64], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 64>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d\n", out);
  return out != 64;
}
