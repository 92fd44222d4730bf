#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("11_bulk_copy", "bulk copies through a ring");
  return reduction::run_step(step, argc, argv);
}
