#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("atomic_shared", "atomic additions in shared memory");
  return reduction::run_step(step, argc, argv);
}
