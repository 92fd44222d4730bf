#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_cuda_step("peer_cub_gpu_to_gpu", "cub::DeviceReduce::Sum, gpu_to_gpu", 0);
  return reduction::run_step(step, argc, argv);
}
