#include <cuda_pipeline.h>
#include <cstdio>

/// Meant to leave a block's sum in out[0]; each thread copies an element to shared memory by itself.
__global__ void sum(const int* in, int* out) {
  __shared__ int cells[64];
  const unsigned tid = threadIdx.x;
  __pipeline_memcpy_async(&cells[tid], &in[tid], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  for (unsigned offset = 32; offset > 0; offset /= 2) {
    if (tid < offset) cells[tid] += cells[tid + offset];
    __syncthreads();
  }
  if (tid == 0) out[0] = cells[0];
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
