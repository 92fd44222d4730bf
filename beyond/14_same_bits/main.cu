#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("14_same_bits", "the same bits");
  return reduction::run_step(step, argc, argv);
}
