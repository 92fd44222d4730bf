// The sum of each row of a matrix, and of each column the largest number with its row.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <reduction/rows.cuh>
#include <vector>

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  const std::size_t rows = 1000, width = 30, stride = 32;  // two elements between rows are nobody's
  std::vector<float> numbers(rows * stride);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < width; ++i)
      numbers[row * stride + i] = static_cast<float>((row * 7 + i * i) % 1009);

  float* in = nullptr;
  float* sums = nullptr;
  reduction::Indexed<float>* largest = nullptr;
  check(cudaMalloc(&in, numbers.size() * sizeof(float)));
  check(cudaMalloc(&sums, rows * sizeof(float)));
  check(cudaMalloc(&largest, width * sizeof(*largest)));
  check(cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));

  check(reduction::reduce_rows(in, sums, rows, width, stride, reduction::Sum{}));
  check(reduction::reduce_columns(in, largest, rows, width, stride, reduction::ArgMax{}));

  float last_sum = 0;
  reduction::Indexed<float> of_last_column{};
  check(cudaMemcpy(&last_sum, sums + rows - 1, sizeof(last_sum), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&of_last_column, largest + width - 1, sizeof(of_last_column), cudaMemcpyDeviceToHost));
  std::printf("sum of row 999: %.1f, largest of column 29: %.1f in row %lld\n", last_sum,
              of_last_column.value, of_last_column.index);
  check(cudaFree(in));
  check(cudaFree(sums));
  check(cudaFree(largest));
}
