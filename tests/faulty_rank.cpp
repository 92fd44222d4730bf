/// \file
/// 13_many_gpus with a fault of the last rank that the variable FAULT names: `lose` leaves out one element of its shard,
/// `double` counts one twice, `fail` has a device that refuses the launch. `apart`, of all GPUs, is in gpus_apart.cu. Without it,
/// nothing is wrong.

#include <mpi.h>

#include <cstdlib>
#include <string_view>

#include "device/device_error.hpp"
#include "rank_kernels.hpp"

namespace reduction {

namespace {

std::string_view own_fault() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const fault = std::getenv("FAULT");
  return fault != nullptr && rank == ranks - 1 ? fault : "";
}

/// `Number` is what the kernels have for `type`. The emulated device is launched once, so that a fault of its input, which the
/// host can write, comes once.
template <ElementType type, typename Number, bool on_gpu>
void launch(const Neighbours& neighbours, const void* in, void* out, std::uint64_t n) {
  if (own_fault() == "fail") throw DeviceError("made to fail");
  auto& element = *static_cast<Number*>(const_cast<void*>(in));
  if (own_fault() == "lose") element = 0;
  if (own_fault() == "double") element += element;
  const RankKernels& kernels = on_gpu ? *cuda_rank_kernels() : emulated_rank_kernels();
  kernels[static_cast<std::size_t>(type)].launch(neighbours, in, out, n);
}

template <bool on_gpu> RankKernels faulty(RankKernels kernels) {
  kernels[static_cast<std::size_t>(ElementType::int32)].launch =
      launch<ElementType::int32, std::uint32_t, on_gpu>;
  kernels[static_cast<std::size_t>(ElementType::float64)].launch =
      launch<ElementType::float64, double, on_gpu>;
  return kernels;
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  using namespace reduction;
  const RankKernels emulated = faulty<false>(emulated_rank_kernels());
  const RankKernels cuda =
      cuda_rank_kernels() != nullptr ? faulty<true>(*cuda_rank_kernels()) : RankKernels{};
  return run_ranks(
      {"13_many_gpus", "more than one GPU", cuda_rank_kernels() != nullptr ? &cuda : nullptr, &emulated},
      argc, argv);
}
