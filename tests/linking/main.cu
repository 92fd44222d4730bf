/// \file
/// Both libraries sum the same numbers. Exit code: 0 all sums are right, 1 one is not, 77 no GPU here can run both.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <iterator>

cudaError_t sum_80(const unsigned* in, unsigned* out, std::size_t n);
cudaError_t sum_90(const unsigned* in, unsigned* out, std::size_t n);

namespace {

// One block, a cluster, two kernels, bulk copies.
constexpr std::size_t sizes[] = {1000, 40'000, 1 << 22, (std::size_t{1} << 29) + 1};
constexpr unsigned element = 0x01010101;

/// Says what went wrong and returns false, unless the sum of n equal elements is right.
bool is_right(const char* library, cudaError_t (*sum)(const unsigned*, unsigned*, std::size_t),
              const unsigned* in, unsigned* out, std::size_t n) {
  cudaMemset(out, 0xff, sizeof(unsigned));
  const cudaError_t status = sum(in, out, n);
  unsigned result = 0;
  const cudaError_t copied = cudaMemcpy(&result, out, sizeof(result), cudaMemcpyDeviceToHost);
  const auto expected = static_cast<unsigned>(n) * element;  // modulo 2^32, as the sum is
  if (status == cudaSuccess && copied == cudaSuccess && result == expected) return true;
  std::printf("%s, %zu elements: %u, expected %u (%s, %s)\n", library, n, result, expected,
              cudaGetErrorName(status), cudaGetErrorName(copied));
  return false;
}

}  // namespace

int main() {
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess || major < 9)
    return 77;
  unsigned* in = nullptr;
  unsigned* out = nullptr;
  const std::size_t most = sizes[std::size(sizes) - 1];
  if (cudaMalloc(&in, most * sizeof(unsigned)) != cudaSuccess ||
      cudaMalloc(&out, sizeof(unsigned)) != cudaSuccess ||
      cudaMemset(in, element & 0xff, most * sizeof(unsigned)) != cudaSuccess) {
    std::puts("the GPU has no memory for the elements");
    return 1;
  }
  bool right = true;
  for (const std::size_t n : sizes) {
    right = is_right("sm_80", sum_80, in, out, n) && right;
    right = is_right("sm_90", sum_90, in, out, n) && right;
  }
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
