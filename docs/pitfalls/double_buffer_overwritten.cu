#include <cstdio>

/// Meant to leave in out[i] the distances of element i to all 256, summed; while a block works on one tile of 64
/// elements, it loads the next one.
__global__ void distances(const int* in, int* out) {
  __shared__ int tile[2][64];
  const unsigned tid = threadIdx.x;
  const int own = in[blockIdx.x * 64 + tid];
  int sum = 0;
  tile[0][tid] = in[tid];
  for (unsigned k = 0; k < 4; ++k) {
    if (k + 1 < 4) tile[(k + 1) % 2][tid] = in[(k + 1) * 64 + tid];
    __syncthreads();
    for (int other : tile[k % 2])
      sum += abs(other - own);
  }
  out[blockIdx.x * 64 + tid] = sum;
}

__managed__ int in[256], out[256];

int main() {
  for (int i = 0; i < 256; ++i)
    in[i] = i + 1;
  distances<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("distances of 1 and of 256: %d, %d\n", out[0], out[255]);
  return out[0] != 32640 || out[255] != 32640;
}
