// The sum of a million numbers, and the largest of them with its place.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <reduction/reduce.cuh>
#include <vector>

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  std::vector<float> numbers(1000003);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i % 100);
  numbers[777777] = 1234.5f;
  const std::size_t bytes = numbers.size() * sizeof(float);

  float* in = nullptr;
  double* sum = nullptr;
  reduction::Indexed<float>* largest = nullptr;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&sum, sizeof(*sum)));
  check(cudaMalloc(&largest, sizeof(*largest)));
  check(cudaMemcpy(in, numbers.data(), bytes, cudaMemcpyHostToDevice));

  check(reduction::reduce(in, sum, numbers.size(), reduction::Sum{}));
  check(reduction::reduce(in, largest, numbers.size(), reduction::ArgMax{}));

  double the_sum = 0;
  reduction::Indexed<float> the_largest{};
  check(cudaMemcpy(&the_sum, sum, sizeof(the_sum), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&the_largest, largest, sizeof(the_largest), cudaMemcpyDeviceToHost));
  std::printf("sum %.1f, largest %.1f at %lld\n", the_sum, the_largest.value, the_largest.index);
  check(cudaFree(in));
  check(cudaFree(sum));
  check(cudaFree(largest));
}
