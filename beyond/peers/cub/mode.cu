/// \file
/// CUB's sum in a mode of `cuda::execution::determinism`: CMake compiles it for each that there is, as CUB_MODE.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "device/cuda_check.cuh"
#include "device/step_traits.hpp"

inline constexpr StepTraits traits{.chooses_launch = true};
inline constexpr auto mode = cuda::execution::determinism::CUB_MODE;

/// Once made, the memory pool of cudaMallocAsync keeps what is freed, so that a timed run finds what the run before has
/// allocated. Otherwise it is given back whenever the host waits for the device.
class KeptMemoryPool {
 public:
  KeptMemoryPool() {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t most_kept = UINT64_MAX;
    reduction::cuda_check(cudaGetDevice(&device), "asking for the device");
    reduction::cuda_check(cudaDeviceGetDefaultMemPool(&pool, device), "asking for the device's memory pool");
    reduction::cuda_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most_kept),
                          "telling the device's memory pool to keep its memory");
  }
};

/// Not every mode is there for integers, and none for complex numbers.
template <typename T>
inline constexpr bool has_mode =
    CUB_MODE_HAS_INTEGERS ? std::is_arithmetic_v<T> : std::is_floating_point_v<T>;

/// CUB leaves one sum, however many kernels it takes. Throws DeviceError for types without this mode.
template <typename T> std::size_t grid_size(std::size_t, unsigned) {
  if constexpr (!has_mode<T>) {
    throw reduction::DeviceError(
        CUB_MODE_HAS_INTEGERS
            ? "CUB has this mode for no complex numbers: choose -t int32, int64, float32 or float64"
            : "CUB has this mode for float32 and float64 only: choose one of them with -t");
  }
  return 1;
}

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`. CUB takes its temporary
/// storage from the device's memory pool.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  if constexpr (has_mode<T>) {
    static const KeptMemoryPool pool;
    reduction::cuda_check(cub::DeviceReduce::Sum(in, out, n, cuda::execution::require(mode)),
                          "launching cub::DeviceReduce::Sum");
  }
}

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step =
      reduction::make_cuda_step("peer_cub_" CUB_MODE_NAME, "cub::DeviceReduce::Sum, " CUB_MODE_NAME);
  return reduction::run_step(step, argc, argv);
}
