#include <cstdio>

template <unsigned lanes> __device__ int sum_of(int value) {
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2)
    value += __shfl_xor_sync(0xffffffff, value, mask);
  return value;
}

/// Meant to leave a block's sum in out[0].
template <unsigned warps> __global__ void sum(const int* in, int* out) {
  __shared__ int sums[warps];
  const unsigned lane = threadIdx.x % 32;
  const int own = sum_of<32>(in[threadIdx.x]);
  if (lane == 0) sums[threadIdx.x / 32] = own;
  __syncthreads();
  const int total = sum_of<warps>(lane < warps ? sums[lane] : 0);
  if (threadIdx.x == 0) out[0] = total;
}

__managed__ int in[192], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<6><<<1, 192>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("192 ones: %d\n", out);
  return out != 192;
}
