#include <cstdio>

/// Meant to leave the sum of 256 elements in out[block], of the last ones of n in the last block.
__global__ void sum(const int* in, int* out, unsigned n) {
  __shared__ int shared[128];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * 256 + tid;
  int own = 0;
  if (i < n) own = in[i] + in[i + 128];
  shared[tid] = own;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

__managed__ int in[300], out[2];

int main() {
  for (int& element : in)
    element = 1;
  sum<<<2, 128>>>(in, out, 300);
  cudaDeviceSynchronize();
  std::printf("300 ones: %d + %d\n", out[0], out[1]);
  return out[0] + out[1] != 300;
}
