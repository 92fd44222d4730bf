// The same work twice: dealt out to every other thread, and by halves of each block.
//   nvcc divergence.cu -o divergence && ./divergence
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// Two sorts of work.
__device__ float grow(float x) {
  for (int k = 0; k < 10000; ++k)
    x = x * 1.0001f + 0.5f;
  return x;
}
__device__ float shrink(float x) {
  for (int k = 0; k < 10000; ++k)
    x = x * 0.9999f - 0.5f;
  return x;
}

__global__ void every_other_thread(float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = threadIdx.x % 2 == 0 ? grow(x[i]) : shrink(x[i]);
}

__global__ void half_of_each_block(float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = threadIdx.x < blockDim.x / 2 ? grow(x[i]) : shrink(x[i]);
}

float milliseconds_of(void (*kernel)(float*), float* x) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  float milliseconds = 0;
  for (int run = 0; run < 2; ++run) {  // the first one loads the kernel
    check(cudaEventRecord(start), "event");
    kernel<<<1056, 256>>>(x);
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(stop), "event");
    check(cudaEventSynchronize(stop), "kernel");
    check(cudaEventElapsedTime(&milliseconds, start, stop), "time");
  }
  return milliseconds;
}

int main() {
  float* x = nullptr;
  check(cudaMalloc(&x, 1056 * 256 * sizeof(float)), "memory");
  check(cudaMemset(x, 0, 1056 * 256 * sizeof(float)), "memory");
  std::printf("every other thread: %.3f ms\n", milliseconds_of(every_other_thread, x));
  std::printf("half of each block: %.3f ms\n", milliseconds_of(half_of_each_block, x));
}
