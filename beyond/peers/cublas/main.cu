#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_cuda_step("peer_cublas", "cuBLAS: dot product with ones", 0),
                             argc, argv);
}
