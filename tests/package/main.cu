/// \file
/// The smallest of a million numbers on the device. Exit code: 0 it is the right one, 1 it is not, 77 there is no GPU.

#include <cuda_runtime.h>

#include <cstdio>
#include <reduction/reduce.cuh>
#include <vector>

cudaError_t smallest(const float* in, float* out, std::size_t n, cudaStream_t stream) {
  std::size_t bytes = 0;
  cudaError_t status = reduction::reduce(nullptr, bytes, in, out, n, reduction::Min{}, stream);
  if (status != cudaSuccess) return status;
  void* storage = nullptr;
  status = cudaMallocAsync(&storage, bytes, stream);
  if (status != cudaSuccess) return status;
  status = reduction::reduce(storage, bytes, in, out, n, reduction::Min{}, stream);
  cudaFreeAsync(storage, stream);
  return status;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;

  std::vector<float> numbers(1000003, 1.0f);
  numbers[777777] = -2.5f;
  float* in = nullptr;
  float* out = nullptr;
  float result = 0;
  cudaMalloc(&in, numbers.size() * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
  const cudaError_t status = smallest(in, out, numbers.size(), nullptr);
  cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  std::printf("the smallest is %g, expected -2.5 (%s)\n", static_cast<double>(result),
              cudaGetErrorString(status));
  return status == cudaSuccess && result == -2.5f ? 0 : 1;
}
