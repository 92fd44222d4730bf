#include <cstdio>

/// Leaves a row's sum in out[row]. A row has 16 elements, and a block of 256 threads.
__global__ void sum_rows(const int* in, int* out) {
  __shared__ int cells[256];
  const unsigned tid = threadIdx.x;
  cells[tid] = tid < 16 ? in[blockIdx.x * 16 + tid] : 0;
  __syncthreads();
  for (unsigned offset = 128; offset > 0; offset /= 2) {
    if (tid < offset) cells[tid] += cells[tid + offset];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = cells[0];
}

__managed__ int in[256 * 16], out[256];

int main() {
  for (int& element : in)
    element = 1;
  sum_rows<<<256, 256>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("16 ones: %d\n", out[255]);
  return out[255] != 16;
}
