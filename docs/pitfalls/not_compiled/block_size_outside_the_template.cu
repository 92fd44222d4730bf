#include <cstdio>

__device__ int sum_of_last_warp(int* shared, unsigned tid) {
  int own = shared[tid];
  for (unsigned offset = 32; offset > 0; offset /= 2) {
    if (offset < block_size) own += shared[tid ^ offset];
    __syncwarp();
    shared[tid] = own;
    __syncwarp();
  }
  return own;
}

/// Meant to leave a block's sum in out[0].
template <unsigned block_size> __global__ void sum(const int* in, int* out) {
  __shared__ int shared[block_size];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  for (unsigned stride = block_size / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid < 32) {
    const int total = sum_of_last_warp(shared, tid);
    if (tid == 0) out[0] = total;
  }
}

__managed__ int in[128], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<128><<<1, 128>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("128 ones: %d\n", out);
  return out != 128;
}
