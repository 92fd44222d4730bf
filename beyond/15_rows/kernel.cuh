#pragma once
/// \file
/// The kernels as a table, for a GPU or for the emulated device.

#include "blocks_per_row.cuh"
#include "columns.cuh"
#include "rows.hpp"
#include "softmax.cuh"
#include "thread_per_row.cuh"
#include "warp_per_row.cuh"

/// A kernel of the table, from the function that launches it. Of no rows there is nothing to launch, but of columns.
template <typename Out, void (*launch)(const float*, Out*, const Matrix&), bool of_columns = false>
reduction::RowKernel row_kernel(const char* name, const char* operation, unsigned threads) {
  return {name, operation, sizeof(Out), threads, [](const float* in, void* out, const Matrix& matrix) {
            if (matrix.rows > 0 || of_columns) launch(in, static_cast<Out*>(out), matrix);
#ifdef __CUDACC__
            reduction::cuda_check(cudaGetLastError(), "launching a kernel");
#endif
          }};
}

template <typename Operation> void add_kernels(reduction::RowKernels& kernels, const char* operation) {
  using Out = Result<Operation>;
  kernels.push_back(row_kernel<Out, launch_thread_per_row<Operation>>("thread", operation, 1));
  kernels.push_back(row_kernel<Out, launch_warp_per_row<Operation>>("warp", operation, 32));
  kernels.push_back(row_kernel<Out, launch_block_per_row<Operation>>("block", operation, 256));
  kernels.push_back(row_kernel<Out, launch_blocks_per_row<Operation>>("blocks", operation, 8192));
  kernels.push_back(row_kernel<Out, launch_columns<Operation>, true>("columns", operation, 8));
}

/// Returns the table. Static: the host's compiler and nvcc both read this header for one program.
static inline reduction::RowKernels make_row_kernels() {
  reduction::RowKernels kernels;
  add_kernels<Sum>(kernels, "sum");
  add_kernels<Max>(kernels, "max");
  add_kernels<ArgMax>(kernels, "argmax");
  add_kernels<Variance>(kernels, "variance");
  kernels.push_back(row_kernel<float, launch_softmax_in_registers>("registers", "softmax", 512));
  kernels.back().most_width = 16 * 1024;
  kernels.push_back(row_kernel<float, launch_softmax_in_two_passes>("passes", "softmax", 256));
  return kernels;
}
