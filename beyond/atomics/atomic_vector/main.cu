#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("atomic_vector", "one atomic addition for 16 bytes");
  return reduction::run_step(step, argc, argv);
}
