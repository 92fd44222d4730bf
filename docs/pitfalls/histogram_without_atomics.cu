#include <cstdio>

/// Meant to count how often each last digit occurs: per block in shared memory first, then in out, which is 0 before.
__global__ void count_digits(const int* in, int* out) {
  __shared__ int bins[10];
  const unsigned tid = threadIdx.x;
  if (tid < 10) bins[tid] = 0;
  __syncthreads();
  bins[in[blockIdx.x * 160 + tid] % 10] += 1;
  __syncthreads();
  if (tid < 10) atomicAdd(&out[tid], bins[tid]);
}

__managed__ int in[320], out[10];

int main() {
  for (int i = 0; i < 320; ++i)
    in[i] = i;
  count_digits<<<2, 160>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("32 of each digit: %d to %d\n", out[0], out[9]);
  return out[0] != 32 || out[9] != 32;
}
