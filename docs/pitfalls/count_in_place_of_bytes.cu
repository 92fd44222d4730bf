#include <cstdio>

__global__ void sum(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }

__managed__ int out;

int main() {
  const int n = 64;
  int host_in[n], *in;
  for (int& element : host_in)
    element = 1;
  cudaMalloc(&in, n * sizeof(int));
  cudaMemcpy(in, host_in, n, cudaMemcpyHostToDevice);
  sum<<<1, n>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d\n", out);
  return out != n;
}
