#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("10_single_pass", "the last block finishes"), argc, argv);
}
