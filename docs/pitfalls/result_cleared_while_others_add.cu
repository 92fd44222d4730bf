#include <cstdio>

/// Meant to leave the sum of all elements in out[0], whatever was there.
__global__ void sum(const int* in, int* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;
  int own = in[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
    own += __shfl_down_sync(0xffffffff, own, offset);
  if (threadIdx.x == 0) atomicAdd(out, own);
}

__managed__ int in[128], out;

int main() {
  for (int& element : in)
    element = 1;
  for (int run = 0; run < 2; ++run)
    sum<<<4, 32>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("128 ones: %d\n", out);
  return out != 128;
}
