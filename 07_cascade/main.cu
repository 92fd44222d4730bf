#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("07_cascade", "many elements per thread"), argc, argv);
}
