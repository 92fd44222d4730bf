#pragma once
/// \file
/// The header of 12 as more kernels of the table, on a GPU.

#include <reduction/rows.cuh>

#include "kernel.cuh"

template <typename Operation, typename Out> void launch_header(const float* in, Out* out, const Matrix& m) {
  reduction::cuda_check(reduction::reduce_rows(in, out, m.rows, m.width, m.stride, Operation{}),
                        "calling reduce_rows");
}

inline void add_header(reduction::RowKernels& kernels) {
  using Place = reduction::Indexed<float>;
  kernels.push_back(row_kernel<float, launch_header<reduction::Sum, float>>("header", "sum", 32));
  kernels.push_back(row_kernel<float, launch_header<reduction::MaxOrNaN, float>>("header", "max", 32));
  kernels.push_back(row_kernel<Place, launch_header<reduction::ArgMax, Place>>("header", "argmax", 32));
}
