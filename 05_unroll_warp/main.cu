#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("05_unroll_warp", "the last warp needs no block barrier");
  return reduction::run_step(step, argc, argv);
}
