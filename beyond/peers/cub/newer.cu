/// \file
/// The same call with the headers of REDUCTION_CCCL_INCLUDE, whose version is in its name.

#include "kernel.cuh"

#include <string>

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const std::string name = "peer_cub_" + std::to_string(CUB_MAJOR_VERSION) + '.' +
                           std::to_string(CUB_MINOR_VERSION) + '.' + std::to_string(CUB_SUBMINOR_VERSION);
  const auto step = reduction::make_cuda_step(name.c_str(), "cub::DeviceReduce::Sum");
  return reduction::run_step(step, argc, argv);
}
