#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("02_nondivergent", "neighbouring threads work");
  return reduction::run_step(step, argc, argv);
}
