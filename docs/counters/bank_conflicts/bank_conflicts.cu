/// \file
/// One warp that stores to shared memory and loads from it, once for each line of nvidia_h200.csv: its width, its set of
/// active lanes and its pattern of addresses. Nsight Compute counts what each launch costs; the counts of a launch, divided by
/// its accesses of each kind, are the rest of the line.
///
///     nvcc -std=c++20 -O2 -arch=native -o bank_conflicts bank_conflicts.cu
///     ncu --clock-control none --cache-control none --csv --page raw --print-units base --log-file counters.csv \
///       --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum... ./bank_conflicts < nvidia_h200.csv
///
/// The metrics are those of tools/nsight_compute.py, loads and stores. The patterns are strides, neighbours that share an
/// address, lanes far apart that do, and other orders. The active lanes are the first so many, every second to sixteenth,
/// halves and quarters, and any.

#include <cuda_runtime.h>

#include <cstdio>

namespace {

/// Lane i accesses element (i / share * multiplier) % modulus of shared memory.
struct Pattern {
  unsigned share, multiplier, modulus;
};

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

void launch(unsigned bytes, unsigned lanes, const Pattern& pattern, unsigned* out) {
  constexpr unsigned shared_bytes = 16 * 1024;
  switch (bytes) {
    case 4: access_shared<4><<<1, 32, shared_bytes>>>(lanes, pattern, out); break;
    case 8: access_shared<8><<<1, 32, shared_bytes>>>(lanes, pattern, out); break;
    default: access_shared<16><<<1, 32, shared_bytes>>>(lanes, pattern, out); break;
  }
}

}  // namespace

int main() {
  unsigned* out = nullptr;
  cudaMalloc(&out, sizeof(*out));
  unsigned launched = 0, bytes = 0, lanes = 0;
  Pattern pattern{};
  char line[200];
  while (std::fgets(line, sizeof(line), stdin) != nullptr) {
    // The head has no numbers.
    if (std::sscanf(line, "%u,%x,%u,%u,%u", &bytes, &lanes, &pattern.share, &pattern.multiplier,
                    &pattern.modulus) != 5)
      continue;
    launch(bytes, lanes, pattern, out);
    ++launched;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%u launches: %s\n", launched, cudaGetErrorString(error));
  return error != cudaSuccess;
}
