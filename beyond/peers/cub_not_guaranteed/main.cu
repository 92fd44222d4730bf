#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step =
      reduction::make_cuda_step("peer_cub_not_guaranteed", "cub::DeviceReduce::Sum, not_guaranteed", 0);
  return reduction::run_step(step, argc, argv);
}
