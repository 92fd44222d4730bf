#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("atomic_each", "one atomic addition per element");
  return reduction::run_step(step, argc, argv);
}
