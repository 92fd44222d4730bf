#include <cstdio>

__global__ void sum(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }

__managed__ int in[64], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 64>>>(in, &out);
  std::printf("64 ones: %d\n", out);
}
