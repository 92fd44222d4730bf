/// \file
/// One warp that stores to shared memory and loads from it, once for each width, set of active lanes and pattern of
/// addresses. Nsight Compute counts what each launch costs; the counts of a launch, divided by its accesses of each kind, are
/// a line of nvidia_h200.csv.
///
///     nvcc -std=c++20 -O2 -arch=native -o bank_conflicts bank_conflicts.cu
///     ncu --clock-control none --cache-control none --csv --page raw --print-units base --log-file counters.csv \
///       --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum... ./bank_conflicts 60 cases.csv
///
/// The metrics are those of tools/nsight_compute.py, loads and stores. cases.csv gets a line for each launch, for at most so
/// many seconds.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

/// Lane i accesses element (i / share * multiplier) % modulus of shared memory.
struct Pattern {
  unsigned share, multiplier, modulus;
};

constexpr Pattern patterns[] = {
    // strides
    {1, 1, 1024},
    {1, 2, 1024},
    {1, 3, 1024},
    {1, 4, 1024},
    {1, 8, 1024},
    {1, 16, 1024},
    {1, 32, 1024},
    // neighbours that share an address: all, two, four, eight, and with a stride
    {32, 1, 1024},
    {2, 1, 1024},
    {4, 1, 1024},
    {8, 1, 1024},
    {2, 2, 1024},
    {2, 4, 1024},
    {2, 8, 1024},
    {2, 16, 1024},
    {2, 32, 1024},
    {4, 16, 1024},
    // lanes that are far apart share an address
    {1, 1, 16},
    {1, 1, 8},
    {1, 1, 4},
    {1, 1, 2},
    {1, 16, 64},
    {1, 8, 128},
    // any other order, with and without equal addresses
    {1, 31, 32},
    {1, 5, 32},
    {1, 37, 61},
    {1, 23, 29},
    {1, 11, 97},
    {2, 37, 61},
    {1, 45, 64},
    {1, 77, 331}};

constexpr unsigned lane_sets[] = {
    // the first so many
    0xffffffff, 0x1, 0x3, 0x7, 0xf, 0x1f, 0x7f, 0xff, 0x1ff, 0xfff, 0x7fff, 0xffff, 0x1ffff, 0xfffff,
    0xffffff, 0xfffffff, 0x7fffffff,
    // every second, fourth, eighth, sixteenth
    0x55555555, 0xaaaaaaaa, 0x11111111, 0x01010101, 0x00010001,
    // halves and quarters
    0xffff0000, 0x00ff00ff, 0xff0000ff, 0xff00ff00, 0x0f0f0f0f, 0x00ffff00, 0xff000000, 0x80000001,
    // any
    0x5c3a91e7, 0x13579bdf, 0xe0070c31, 0x02480910, 0x7f00fe01, 0xb6db6db6};

struct Case {
  unsigned bytes, lanes;
  Pattern pattern;
};

/// All of them in an order without order: the first ones are as good a choice as any.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const unsigned bytes : {4U, 8U, 16U}) {
    for (const unsigned lanes : lane_sets) {
      for (const Pattern& pattern : patterns)
        cases.push_back({bytes, lanes, pattern});
    }
  }
  std::uint64_t random = 1;
  for (std::size_t i = cases.size(); i > 1; --i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    std::swap(cases[i - 1], cases[(random >> 33) % i]);
  }
  return cases;
}

constexpr unsigned times = 8;

template <unsigned bytes> __global__ void access_shared(unsigned lanes, Pattern pattern, unsigned* out) {
  extern __shared__ uint4 shared[];
  const unsigned lane = threadIdx.x;
  const unsigned element = lane / pattern.share * pattern.multiplier % pattern.modulus;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + element * bytes;
  unsigned a = lane, b = lane, c = lane, d = lane;
  if ((lanes >> lane & 1) != 0) {
#pragma unroll
    for (unsigned i = 0; i < times; ++i) {
      if constexpr (bytes == 4) {
        asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(address), "r"(a) : "memory");
      } else if constexpr (bytes == 8) {
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" : : "r"(address), "r"(a), "r"(b) : "memory");
      } else {
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(address), "r"(a), "r"(b), "r"(c), "r"(d)
                     : "memory");
      }
    }
#pragma unroll
    for (unsigned i = 0; i < times; ++i) {
      if constexpr (bytes == 4) {
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
      } else if constexpr (bytes == 8) {
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                     : "=r"(a), "=r"(b)
                     : "r"(address)
                     : "memory");
      } else {
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(address)
                     : "memory");
      }
    }
    if ((a ^ b ^ c ^ d) == 0x12345678) *out = a;
  }
}

void launch(const Case& one, unsigned* out) {
  constexpr unsigned shared_bytes = 16 * 1024;
  switch (one.bytes) {
    case 4: access_shared<4><<<1, 32, shared_bytes>>>(one.lanes, one.pattern, out); break;
    case 8: access_shared<8><<<1, 32, shared_bytes>>>(one.lanes, one.pattern, out); break;
    default: access_shared<16><<<1, 32, shared_bytes>>>(one.lanes, one.pattern, out); break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bank_conflicts SECONDS FILE\n");
    return 2;
  }
  unsigned* out = nullptr;
  std::FILE* const file = std::fopen(argv[2], "w");
  if (file == nullptr || cudaMalloc(&out, sizeof(*out)) != cudaSuccess) {
    std::fprintf(stderr, "bank_conflicts: cannot write %s, or there is no GPU\n", argv[2]);
    return 1;
  }
  std::fprintf(file, "launch,bytes,lanes,share,multiplier,modulus,times\n");
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Case> cases = all_cases();
  std::size_t launched = 0;
  for (const Case& one : cases) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(std::atoi(argv[1]))) break;
    launch(one, out);
    std::fprintf(file, "%zu,%u,0x%08x,%u,%u,%u,%u\n", launched++, one.bytes, one.lanes, one.pattern.share,
                 one.pattern.multiplier, one.pattern.modulus, times);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%zu of %zu launches: %s\n", launched, cases.size(), cudaGetErrorString(error));
  return std::fclose(file) == 0 && error == cudaSuccess ? 0 : 1;
}
