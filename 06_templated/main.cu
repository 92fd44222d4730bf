#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("06_templated", "block size known to the compiler");
  return reduction::run_step(step, argc, argv);
}
