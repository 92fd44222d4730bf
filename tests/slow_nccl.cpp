/// \file
/// Combines a one by tests/stand_in_nccl, with a time limit of a second.

#include <cstdio>

#include "combine.hpp"
#include "harness/device.hpp"
#include "job.hpp"

int main(int argc, char** argv) {
  using namespace reduction;
  Job job("slow_nccl", argc, argv);
  job.wait_limit().set(std::chrono::seconds(1));
  try {
    constexpr ElementType type = ElementType::int32;
    const std::unique_ptr<Device> device = open_emulated_device();
    const RankKernel kernel{1, 8, 8, nullptr, nullptr, nullptr};
    const std::unique_ptr<Combine> combine = combine_by_nccl({job.ranks(), *device, kernel, type});
    device->fill(combine->sum(), {Data::ones, 1, 1}, type, 0, 1);
    combine->start();
    combine->wait();
    std::puts(to_string(combine->value()).c_str());
  } catch (...) {
    job.abort_with_current_exception();
  }
}
