#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("06_templated", "block size known to the compiler"), argc,
                             argv);
}
