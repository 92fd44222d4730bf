#include <cstdio>

/// Meant to leave a block's sum in out[0].
__global__ void sum(const int* in, int* out) {
  extern __shared__ int shared[];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid < 32) {
    int own = shared[tid];
    for (unsigned offset = 32; offset > 0; offset /= 2) {
      own += shared[tid + offset];
      __syncwarp();
      shared[tid] = own;
      __syncwarp();
    }
  }
  if (tid == 0) out[0] = shared[0];
}

__managed__ int in[32], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 32, 32 * sizeof(int)>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("32 ones: %d\n", out);
  return out != 32;
}
