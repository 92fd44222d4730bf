/// \file
/// kernel.cuh for the emulated device.

#include "kernel.cuh"

#include <cstdint>

#include "emulated/language/complex.hpp"
#include "rank_kernels.cuh"

namespace reduction {

const RankKernels& emulated_rank_kernels() {
  static const RankKernels kernels =
      make_rank_kernels<std::uint32_t, std::uint64_t, float, double, __emulated::Complex<float>,
                        __emulated::Complex<double>>();
  return kernels;
}

}  // namespace reduction
