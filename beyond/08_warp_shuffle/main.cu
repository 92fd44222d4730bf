#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("08_warp_shuffle", "a warp adds in registers");
  return reduction::run_step(step, argc, argv);
}
