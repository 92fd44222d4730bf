#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_cuda_step("peer_cublas", "cuBLAS: dot product with ones");
  return reduction::run_step(step, argc, argv);
}
