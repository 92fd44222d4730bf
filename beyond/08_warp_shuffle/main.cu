#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("08_warp_shuffle", "a warp adds in registers"), argc, argv);
}
