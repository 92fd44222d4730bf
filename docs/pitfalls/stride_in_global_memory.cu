#include <cstdio>

/// Leaves a warp's sum in out[blockIdx.x]. Each of its threads adds up 16 elements.
__global__ void sum(const int* in, int* out) {
  const int* own = in + blockIdx.x * 512 + threadIdx.x * 16;
  int total = 0;
  for (unsigned i = 0; i < 16; ++i)
    total += own[i];
  for (int offset = 16; offset > 0; offset /= 2)
    total += __shfl_down_sync(0xffffffff, total, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

__managed__ int in[4 * 512], out[4];

int main() {
  for (int& element : in)
    element = 1;
  sum<<<4, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("512 ones: %d\n", out[3]);
  return out[3] != 512;
}
