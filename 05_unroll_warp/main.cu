#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("05_unroll_warp", "last warp unrolled");
  return reduction::run_step(step, argc, argv);
}
