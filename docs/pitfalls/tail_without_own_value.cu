#include <cstdio>

/// Meant to add up 64 cells by 32 threads, and to leave the sum in cells[0].
__device__ void add_up(int* cells, unsigned lane) {
  int sum = 0;
  for (unsigned offset = 32; offset > 0; offset /= 2) {
    sum += cells[lane + offset];
    __syncwarp();
    cells[lane] = sum;
    __syncwarp();
  }
}

__global__ void sum(const int* in, int* out) {
  __shared__ int cells[64];
  cells[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) add_up(cells, threadIdx.x);
  if (threadIdx.x == 0) out[0] = cells[0];
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
