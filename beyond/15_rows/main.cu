#include "rows.hpp"

#ifdef __CUDACC__
#include "cub.cuh"
#include "header.cuh"
#include "kernel.cuh"
#endif

int main(int argc, char** argv) {
  const reduction::RowKernels* cuda = nullptr;
#ifdef __CUDACC__
  reduction::RowKernels kernels = make_row_kernels();
  add_header(kernels);
  add_cub(kernels);
  cuda = &kernels;
#endif
  return reduction::run_rows({"15_rows", "rows and columns", cuda, &reduction::emulated_row_kernels()}, argc,
                             argv);
}
