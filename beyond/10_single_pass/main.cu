#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("10_single_pass", "the last block finishes");
  return reduction::run_step(step, argc, argv);
}
