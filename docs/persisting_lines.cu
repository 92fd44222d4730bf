// Do lines that the L2 was told to keep outlive the flush of the timing method? It prints the median µs of CUB's sum of
// int32 that were read in some way before: nvcc -O3 -std=c++17 -arch=native docs/persisting_lines.cu -o persisting_lines
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_reduce.cuh>

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

unsigned* zeros(size_t words) {
  unsigned* data = nullptr;
  check(cudaMalloc(&data, words * 4));
  check(cudaMemset(data, 0, words * 4));
  return data;
}

// Reads all words, which are 0. With `last` each load asks the L2 to evict its line last.
template <bool last> __global__ void read_kernel(unsigned* data, size_t words) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  unsigned seen = 0, word = 0;
  for (size_t k = size_t{blockIdx.x} * 256 + threadIdx.x; k < words; k += size_t{gridDim.x} * 256) {
    if (last)
      asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(data + k), "l"(policy));
    seen |= last ? word : data[k];
  }
  if (seen != 0) data[0] = seen;
}

// Until the host has queued what follows.
__global__ void delay_kernel() { __nanosleep(100'000); }

int main() {
  int l2_bytes = 0, most_persisting = 0;
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
  check(cudaDeviceGetAttribute(&most_persisting, cudaDevAttrMaxPersistingL2CacheSize, 0));
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most_persisting));
  const size_t flush_words = size_t{2} * l2_bytes / 4, most = size_t{1} << 24;
  size_t bytes = size_t{1} << 20;
  unsigned *const in = zeros(most), *const out = zeros(1), *const flush = zeros(flush_words);
  unsigned* const storage = zeros(bytes / 4);
  cudaStream_t persisting;
  cudaEvent_t start, stop;
  check(cudaStreamCreate(&persisting));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));

  std::puts(
      "| | flush | window, flush | window, reset, flush | evict_last, flush | evict_last, reset, flush | – "
      "|");
  std::puts("|:--|--:|--:|--:|--:|--:|--:|");
  for (size_t n = size_t{1} << 18; n <= most; n *= 2) {
    cudaStreamAttrValue window{};
    window.accessPolicyWindow = {in, n * 4, 1.0f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    check(cudaStreamSetAttribute(persisting, cudaStreamAttributeAccessPolicyWindow, &window));
    std::printf("| %zu ", n);
    for (const char* way : {"flush", "w flush", "w reset flush", "e flush", "e reset flush", ""}) {
      float ms[41];
      for (float& each : ms) {
        check(cudaCtxResetPersistingL2Cache());  // of what the sample before has left
        read_kernel<false><<<1056, 256>>>(flush, flush_words);
        const auto kernel = *way == 'e' ? read_kernel<true> : read_kernel<false>;
        kernel<<<1056, 256, 0, *way == 'w' ? persisting : nullptr>>>(in, n);
        check(cudaDeviceSynchronize());
        if (std::strstr(way, "reset")) check(cudaCtxResetPersistingL2Cache());
        if (std::strstr(way, "flush")) read_kernel<false><<<1056, 256>>>(flush, flush_words);
        delay_kernel<<<1, 1>>>();
        check(cudaEventRecord(start));
        check(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
        check(cudaEventRecord(stop));
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&each, start, stop));
      }
      std::nth_element(ms, ms + 20, ms + 41);
      std::printf("| %.1f ", 1e3 * ms[20]);
    }
    std::puts("|");
  }
}
