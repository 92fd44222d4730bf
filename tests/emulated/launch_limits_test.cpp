/// The emulated device refuses a launch that a GPU has no room for.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/language/runtime/kernels.hpp"

namespace {

using namespace __emulated;
using Array = DeviceArray<unsigned>;

/// Why a launch is refused; "" if it is not.
std::string refusal_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

__global__ void use_dynamic(unsigned* out) {
  extern __shared__ unsigned shared[];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x];
}
__global__ void use_both(unsigned* out) noexcept {
  extern __shared__ unsigned shared[];
  __shared__ unsigned fixed[2048];
  shared[threadIdx.x] = fixed[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x];
}

const std::string cannot = "the emulated device cannot launch this: a block ";
const std::string asks_for_more =
    "; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) asks for more";

/// How much a block may have, by default and where as much as there is has been asked for. Static memory is known when the
/// kernel comes to its variable: even where nothing may be thrown, that is no abort.
TEST(SharedMemory, BeyondADefaultHasToBeAskedFor) {
  Array out{32};
  const auto of_dynamic = [&](unsigned bytes) {
    return refusal_of([&] { use_dynamic<<<1, 32, bytes>>>(out.begin()); });
  };
  const auto of_both = [&](unsigned bytes) {
    return refusal_of([&] { use_both<<<1, 32, bytes>>>(out.begin()); });
  };
  const std::string both = cannot + "has bytes of shared memory, static and dynamic, at most ";
  EXPECT_EQ(of_dynamic(48 * 1024), "");
  EXPECT_EQ(
      of_dynamic(48 * 1024 + 1),
      cannot + "of this kernel has bytes of dynamic shared memory, at most 49152, not 49153" + asks_for_more);
  EXPECT_EQ(of_both(40 * 1024), "");
  EXPECT_EQ(of_both(40 * 1024 + 4), both + "49152, not 49156" + asks_for_more);
  const auto* const dynamic = reinterpret_cast<const void*>(use_dynamic);
  allow_dynamic_shared_memory(dynamic, 64 * 1024);
  EXPECT_EQ(of_dynamic(64 * 1024), "");
  EXPECT_NE(of_dynamic(64 * 1024 + 1), "");
  allow_dynamic_shared_memory(dynamic, 227 * 1024);
  allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_both), 227 * 1024);
  EXPECT_EQ(of_dynamic(227 * 1024), "");
  EXPECT_EQ(of_both(219 * 1024), "");
  EXPECT_EQ(of_both(219 * 1024 + 4), both + "232448, not 232452");
  EXPECT_THROW(allow_dynamic_shared_memory(dynamic, 227 * 1024 + 1), std::invalid_argument);
}

constexpr unsigned most = 64;
__global__ void __launch_bounds__(most) bounded(unsigned* out) { out[threadIdx.x] = 1; }
template <typename T, unsigned warps>
__global__ void __launch_bounds__(32 * warps, 2) bounded_by_a_parameter(T* out) noexcept {
  out[threadIdx.x] = 1;
}

TEST(LaunchBounds, AreALimitOfTheLaunch) {
  Array out{1024};
  EXPECT_EQ(refusal_of([&] { bounded<<<1, 64>>>(out.begin()); }), "");
  EXPECT_EQ(refusal_of([&] { bounded<<<4, dim3(13, 5)>>>(out.begin()); }),
            cannot + "of bounded has threads, at most 64 by its __launch_bounds__, not 65");
  EXPECT_EQ(refusal_of([&] { bounded_by_a_parameter<unsigned, 4><<<1, 128>>>(out.begin()); }), "");
  EXPECT_EQ(refusal_of([&] { bounded_by_a_parameter<unsigned, 2><<<1, 128>>>(out.begin()); }),
            cannot + "of bounded_by_a_parameter has threads, at most 64 by its __launch_bounds__, not 128");
}

TEST(Launch, IsRefusedWhereNoDeviceHasIt) {
  for (const ExecutionConfiguration& config :
       {ExecutionConfiguration{0, 32, 0}, ExecutionConfiguration{1, 0, 0}, ExecutionConfiguration{1, 1025, 0},
        ExecutionConfiguration{1U << 31, 32, 0}, ExecutionConfiguration{1, 32, 227 * 1024 + 1}}) {
    EXPECT_THROW(launch(config, use_dynamic, Array{1}.begin()), std::invalid_argument);
  }
}

TEST(Launch, FillsTheDeviceAsItsLimitsAllow) {
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 256, 1024), 132U * 8);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 32, 128), 132U * 32);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 64, 100 * 1024), 132U * 2);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 1024, 227 * 1024), 132U);
  EXPECT_THROW(blocks_to_fill_device(use_dynamic, 32, 227 * 1024 + 1), std::invalid_argument);
}

}  // namespace
