// Adds up 1,000,003 numbers on the GPU, in plain CUDA: nvcc main.cu -o first_program && ./first_program
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

// Every CUDA call returns a status. A program that does not look at it goes on with wrong numbers.
void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// Each block adds up blockDim.x elements of `in`, and leaves their sum in out[blockIdx.x].
__global__ void reduce_kernel(const int* in, int* out, size_t n) {
  extern __shared__ int shared[];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;

  shared[tid] = i < n ? in[i] : 0;  // past the end there is nothing to add, but still a barrier to reach
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

int main() {
  const size_t n = 1000003;
  std::vector<int> numbers(n);
  int expected = 0;
  for (size_t i = 0; i < n; ++i) {
    numbers[i] = static_cast<int>(i % 1000);
    expected += numbers[i];
  }

  const unsigned block = 256;
  const auto blocks_for = [](size_t count) { return static_cast<unsigned>((count + block - 1) / block); };
  int* in = nullptr;
  int* out = nullptr;
  check(cudaMalloc(&in, n * sizeof(int)), "memory for the numbers");
  check(cudaMalloc(&out, blocks_for(n) * sizeof(int)), "memory for the sums of the blocks");
  check(cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice), "copy to the device");

  // Each pass leaves one number per block. These are what the next pass adds up, until one is left.
  for (size_t left = n; left > 1; left = blocks_for(left)) {
    reduce_kernel<<<blocks_for(left), block, block * sizeof(int)>>>(in, out, left);
    check(cudaGetLastError(), "launch");
    std::swap(in, out);
  }

  int sum = 0;  // the copy waits for the kernels
  check(cudaMemcpy(&sum, in, sizeof(int), cudaMemcpyDeviceToHost), "copy to the host");
  check(cudaFree(in), "release");
  check(cudaFree(out), "release");
  std::printf("%d, which is %s\n", sum, sum == expected ? "right" : "wrong");
  return sum == expected ? 0 : 1;
}
