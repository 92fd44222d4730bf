#include <cstdio>

__global__ void sum(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }

__managed__ int in[64];

int main() {
  for (int& element : in)
    element = 1;
  int* out;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  sum<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d\n", *out);
}
