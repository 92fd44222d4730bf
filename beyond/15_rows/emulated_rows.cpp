/// \file
/// kernel.cuh for the emulated device.

#include "kernel.cuh"

namespace reduction {

const RowKernels& emulated_row_kernels() {
  static const RowKernels kernels = make_row_kernels();
  return kernels;
}

}  // namespace reduction
