#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("09_vector_loads", "four loads of 16 bytes at a time"),
                             argc, argv);
}
