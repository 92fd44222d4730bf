#include <cstdio>

/// Meant to leave in sums[block] the sum of the elements from this one to the last. A block waits for the sum of the next one.
__global__ void sum_from_the_back(const int* in, int* sums, int* ready, unsigned* tickets) {
  const unsigned block = blockIdx.x;
  int sum = in[block];
  if (block + 1 < gridDim.x) {
    while (atomicAdd(&ready[block + 1], 0) == 0) {
    }
    __threadfence();
    sum += sums[block + 1];
  }
  sums[block] = sum;
  __threadfence();
  atomicExch(&ready[block], 1);
}

__managed__ int in[5000], sums[5000], ready[5000];
__managed__ unsigned tickets;

int main() {
  for (int& element : in)
    element = 1;
  sum_from_the_back<<<5000, 1>>>(in, sums, ready, &tickets);
  cudaDeviceSynchronize();
  std::printf("5000 ones: %d\n", sums[0]);
  return sums[0] != 5000;
}
