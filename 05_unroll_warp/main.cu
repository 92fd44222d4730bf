#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("05_unroll_warp", "last warp unrolled"), argc, argv);
}
