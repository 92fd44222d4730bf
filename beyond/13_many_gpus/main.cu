#include "kernel.cuh"

#include "harness/step.cuh"
#include "run_ranks.hpp"

int main(int argc, char** argv) {
  return reduction::run_ranks(reduction::make_step("13_many_gpus", "more than one GPU"), argc, argv);
}
