#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("04_first_add", "first addition while loading");
  return reduction::run_step(step, argc, argv);
}
