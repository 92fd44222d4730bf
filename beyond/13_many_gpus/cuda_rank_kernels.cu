#include "kernel.cuh"

#include <cstdint>
#include <cuda/std/complex>

#include "rank_kernels.cuh"

namespace reduction {

const RankKernels* cuda_rank_kernels() {
  // Integers as unsigned: the same bits, and a sum that wraps around is defined.
  static const RankKernels kernels =
      make_rank_kernels<std::uint32_t, std::uint64_t, float, double, cuda::std::complex<float>,
                        cuda::std::complex<double>>();
  return &kernels;
}

}  // namespace reduction
