#ifdef __CUDACC__
#include "kernel.cuh"
#endif

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step =
      reduction::make_cuda_step("11_bulk_copy", "bulk copies through a ring in shared memory", 9);
  return reduction::run_step(step, argc, argv);
}
