#include <cstdio>

/// Each is meant to leave a block's sum in out[0], of 64 elements or of 32.
__global__ void two_barriers(const int* in, int* out) {
  __shared__ int cells[32];
  const unsigned tid = threadIdx.x;
  if (tid >= 32) {
    cells[tid - 32] = in[tid];
    __syncthreads();
  } else {
    __syncthreads();
    atomicAdd(out, in[tid] + cells[tid]);
  }
}

__global__ void two_kinds(const int* in, int* out) {
  __shared__ int cells[32];
  const unsigned lane = threadIdx.x;
  cells[lane] = in[lane];
  if (lane == 0) {
    __syncthreads();
    for (int cell : cells)
      out[0] += cell;
  } else {
    __syncwarp();
  }
}

__managed__ int in[64], out[2];

int main() {
  for (int& element : in)
    element = 1;
  two_barriers<<<1, 64>>>(in, &out[0]);
  two_kinds<<<1, 32>>>(in, &out[1]);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d, 32 ones: %d\n", out[0], out[1]);
  return out[0] != 64 || out[1] != 32;
}
