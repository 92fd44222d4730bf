#include <cstdio>

__global__ void sum(const int* in, int* out) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }

__managed__ int in[2048], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 2048>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("2048 ones: %d\n", out);
  return out != 2048;
}
