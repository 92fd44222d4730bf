#include <cstdio>

/// Meant to leave in out[column] the sum of each column; a thread adds up one of them.
__global__ void sum_columns(const int* in, int* out, unsigned rows, unsigned width) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= rows * width) return;
  int sum = 0;
  for (unsigned row = 0; row < rows; ++row)
    sum += in[row * width + column];
  out[column] = sum;
}

int main() {
  const unsigned rows = 16, width = 40;
  int *in, *out;
  cudaMallocManaged(&in, rows * width * sizeof(int));
  cudaMallocManaged(&out, width * sizeof(int));
  for (unsigned i = 0; i < rows * width; ++i)
    in[i] = 1;
  sum_columns<<<(width + 31) / 32, 32>>>(in, out, rows, width);
  cudaDeviceSynchronize();
  std::printf("columns of 16 ones: %d to %d\n", out[0], out[width - 1]);
  return out[0] != 16 || out[width - 1] != 16;
}
