#include <cstdio>

/// Meant to leave a block's sum in out[0].
__global__ void sum(const int* in, int* out) {
  __shared__ int shared[128];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  if (tid == 0) out[0] = shared[0];
}

__managed__ int in[128], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 128>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("128 ones: %d\n", out);
  return out != 128;
}
