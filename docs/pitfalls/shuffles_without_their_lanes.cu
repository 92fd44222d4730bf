#include <cstdio>

/// Meant to leave in out[i] how far element i is from the first one of its warp.
__global__ void mask_of_five_lanes(const int* in, int* out) {
  const int own = in[threadIdx.x];
  out[threadIdx.x] = own - __shfl_sync(0x1f, own, 0);
}

/// Meant to leave the sum of 24 elements in out[0], as the next one.
__global__ void behind_a_check(const int* in, int* out) {
  if (threadIdx.x >= 24) return;
  int sum = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void width_of_24(const int* in, int* out) {
  int sum = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset, 24);
  if (threadIdx.x == 0) out[0] = sum;
}

__managed__ int in[32], distances[32], sums[2];

int main() {
  for (int i = 0; i < 32; ++i)
    in[i] = i < 24;
  mask_of_five_lanes<<<1, 32>>>(in, distances);
  behind_a_check<<<1, 32>>>(in, &sums[0]);
  width_of_24<<<1, 32>>>(in, &sums[1]);
  cudaDeviceSynchronize();
  std::printf("24 ones: %d and %d\n", sums[0], sums[1]);
  return sums[0] != 24 || sums[1] != 24;
}
