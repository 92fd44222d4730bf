#include <cstdio>

/// Leaves the sum of each row of a tile of 32 x 32 elements in out[row], which a thread adds up.
__global__ void sum_rows(const int* in, int* out) {
  __shared__ int tile[32][32];
  for (unsigned row = 0; row < 32; ++row)
    tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
  __syncwarp();
  int sum = 0;
  for (unsigned column = 0; column < 32; ++column)
    sum += tile[threadIdx.x][column];
  out[threadIdx.x] = sum;
}

__managed__ int in[32 * 32], out[32];

int main() {
  for (int& element : in)
    element = 1;
  sum_rows<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("32 ones: %d\n", out[31]);
  return out[31] != 32;
}
