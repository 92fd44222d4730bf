#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_cuda_step("12_any_operation", "any operation");
  return reduction::run_step(step, argc, argv);
}
