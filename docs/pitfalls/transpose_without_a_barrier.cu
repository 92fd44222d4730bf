#include <cstdio>

/// Meant to transpose a matrix of 16 x 16, one tile of 8 x 8 per block, so that loads and stores go along rows.
__global__ void transpose(const int* in, int* out) {
  __shared__ int tile[8][8 + 1];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.y * 8 + y) * 16 + blockIdx.x * 8 + x];
  out[(blockIdx.x * 8 + y) * 16 + blockIdx.y * 8 + x] = tile[x][y];
}

__managed__ int in[256], out[256];

int main() {
  for (int i = 0; i < 256; ++i)
    in[i] = i;
  transpose<<<dim3(2, 2), dim3(8, 8)>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("second row: %d, %d to %d\n", out[16], out[17], out[31]);
  return out[16] != 1 || out[17] != 17 || out[31] != 241;
}
