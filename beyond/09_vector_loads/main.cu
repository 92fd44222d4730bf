#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("09_vector_loads", "four loads of 16 bytes at a time");
  return reduction::run_step(step, argc, argv);
}
