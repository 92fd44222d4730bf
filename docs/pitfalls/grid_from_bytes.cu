#include <cstdio>

/// Meant to leave the sum of 128 elements in out[block], of the last ones of n in the last block.
__global__ void sum(const int* in, int* out, unsigned n) {
  __shared__ int shared[128];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * 128 + tid;
  shared[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

int main() {
  const unsigned n = 300, size = n * sizeof(int), tiles = (n + 127) / 128;
  int *in, *out;
  cudaMallocManaged(&in, size);
  cudaMallocManaged(&out, tiles * sizeof(int));
  for (unsigned i = 0; i < n; ++i)
    in[i] = 1;
  sum<<<(size + 127) / 128, 128>>>(in, out, n);
  cudaDeviceSynchronize();
  std::printf("300 ones: %d + %d + %d\n", out[0], out[1], out[2]);
  return out[0] + out[1] + out[2] != 300;
}
