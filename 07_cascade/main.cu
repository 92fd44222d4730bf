#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("07_cascade", "many elements per thread");
  return reduction::run_step(step, argc, argv);
}
