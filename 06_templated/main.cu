#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("06_templated", "the compiler knows the block size");
  return reduction::run_step(step, argc, argv);
}
