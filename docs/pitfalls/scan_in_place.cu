#include <cstdio>

/// Meant to leave a block's running sums: out[i] is the sum of elements 0 to i.
__global__ void scan(const int* in, int* out) {
  __shared__ int shared[128];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  for (unsigned offset = 1; offset < blockDim.x; offset *= 2) {
    if (tid >= offset) shared[tid] += shared[tid - offset];
    __syncthreads();
  }
  out[tid] = shared[tid];
}

__managed__ int in[128], out[128];

int main() {
  for (int& element : in)
    element = 1;
  scan<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("1 to 128 ones: %d to %d\n", out[0], out[127]);
  return out[0] != 1 || out[127] != 128;
}
