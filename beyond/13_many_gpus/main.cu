#include "kernel.cuh"

#include "harness/step.cuh"
#include "run_ranks.hpp"

int main(int argc, char** argv) {
  const auto step = reduction::make_step("13_many_gpus", "more than one GPU");
  return reduction::run_ranks(step, argc, argv);
}
