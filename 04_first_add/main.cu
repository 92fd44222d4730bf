#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_step("04_first_add", "first addition while loading"), argc,
                             argv);
}
