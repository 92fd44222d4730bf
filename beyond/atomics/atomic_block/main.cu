#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("atomic_block", "one atomic addition a block"), argc, argv);
}
