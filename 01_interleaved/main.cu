#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("01_interleaved", "one thread per element, interleaved addressing");
  return reduction::run_step(step, argc, argv);
}
