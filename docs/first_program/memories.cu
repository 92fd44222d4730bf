// How much each memory of this GPU holds, and how many clock cycles a thread waits for a load from it.
//   nvcc memories.cu -o memories && ./memories
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

const unsigned steps = 65536;  // of each measurement, one after the other
const unsigned line = 32;      // elements of 4 bytes: each load is from a line of 128 bytes of its own

// The first element of each line says which line comes next: each once, in an order like that of random numbers.
__global__ void make_chain(unsigned* chain, unsigned lines) {
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < lines; k += gridDim.x * blockDim.x)
    chain[size_t{k} * line] = (1664525 * k + 1013904223) % lines;
}

// Follows a chain: no load can begin before the one before it has brought its address.
__device__ double cycles_per_load(const unsigned* chain, unsigned* end) {
  unsigned k = 0;
  for (unsigned step = 0; step < steps; ++step)  // from now on a cache has what it has room for
    k = chain[size_t{k} * line];
  const long long start = clock64();
  for (unsigned step = 0; step < steps; ++step)
    k = chain[size_t{k} * line];
  *end = k;
  return static_cast<double>(clock64() - start) / steps;
}

__global__ void follow(const unsigned* chain, unsigned* end, double* cycles) {
  *cycles = cycles_per_load(chain, end);
}

__global__ void follow_in_shared_memory(unsigned* end, double* cycles) {
  __shared__ unsigned chain[256 * line];
  for (unsigned k = 0; k < 256; ++k)
    chain[k * line] = (k + 1) % 256;
  *cycles = cycles_per_load(chain, end);
}

// In registers: no operation can begin before the one before it has ended.
__global__ void calculate(unsigned* end, double* cycles, unsigned factor) {
  unsigned value = 0;
  const long long start = clock64();
#pragma unroll 256
  for (unsigned step = 0; step < steps; ++step)
    value = value * factor + 1;
  *end = value;
  *cycles = static_cast<double>(clock64() - start) / steps;
}

int main() {
  const unsigned most_lines = 1u << 23;
  unsigned* chain = nullptr;
  unsigned* end = nullptr;
  double* cycles = nullptr;
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0), "the GPU's properties");
  check(cudaMalloc(&chain, size_t{most_lines} * line * sizeof(unsigned)), "memory");
  check(cudaMalloc(&end, sizeof(unsigned)), "memory");
  check(cudaMalloc(&cycles, sizeof(double)), "memory");

  const auto print_cycles = [&](const char* what) {
    double value = 0;
    check(cudaGetLastError(), what);
    check(cudaMemcpy(&value, cycles, sizeof(double), cudaMemcpyDeviceToHost), what);
    std::printf("%-55s %6.1f cycles\n", what, value);
  };
  std::printf("%s: %d multiprocessors, each for up to %d threads\n", gpu.name, gpu.multiProcessorCount,
              gpu.maxThreadsPerMultiProcessor);
  std::printf("on each %d KiB of registers and up to %zu KiB of shared memory, up to %zu for one block\n",
              gpu.regsPerMultiprocessor / 256, gpu.sharedMemPerMultiprocessor / 1024,
              gpu.sharedMemPerBlockOptin / 1024);
  std::printf("for all of them %d MiB of L2 and %.1f GiB of global memory\n\n", gpu.l2CacheSize >> 20,
              static_cast<double>(gpu.totalGlobalMem >> 20) / 1024);

  calculate<<<1, 1>>>(end, cycles, 3);
  print_cycles("registers: a multiplication with an addition");
  follow_in_shared_memory<<<1, 1>>>(end, cycles);
  print_cycles("shared memory");
  const auto measure = [&](unsigned lines, const char* what) {
    make_chain<<<1024, 256>>>(chain, lines);
    follow<<<1, 1>>>(chain, end, cycles);
    print_cycles(what);
  };
  measure(256, "L1: a chain through 32 KiB");
  measure(65536, "L2: a chain through 8 MiB");
  measure(most_lines, "global memory: a chain through 1 GiB");
}
