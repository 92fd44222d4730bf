/// \file
/// The verifier must see the mistakes that kernels make. Each of these kernels makes one.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "device/cuda_or_emulated.cuh"
#include "harness/device.hpp"
#include "harness/measure.hpp"

namespace reduction {
namespace {

/// One thread adds in[first] to in[last - 1], then `in[again]`.
template <typename T> void serial_kernel(const T* in, T* out, size_t first, size_t last, size_t again) {
  if (threadIdx.x != 0) return;
  T sum{};
  for (size_t i = first; i < last; ++i)
    sum += in[i];
  if (again < last) sum += in[again];
  *out = sum;
}

template <typename T> void constant_kernel(T* out, T value) {
  if (threadIdx.x == 0) *out = value;
}

template <typename T> void idle_kernel(T*) {}

constexpr size_t no_element = std::numeric_limits<size_t>::max();

size_t one_block(std::size_t, unsigned) { return 1; }

template <typename T>
void launch_correct(unsigned grid, unsigned block, const void* in, void* out, size_t n) {
  __emulated::launch({grid, block, 0}, serial_kernel<T>, static_cast<const T*>(in), static_cast<T*>(out),
                     size_t{0}, n, no_element);
}

template <typename T>
void launch_without_last(unsigned grid, unsigned block, const void* in, void* out, size_t n) {
  __emulated::launch({grid, block, 0}, serial_kernel<T>, static_cast<const T*>(in), static_cast<T*>(out),
                     size_t{0}, n - 1, no_element);
}

template <typename T>
void launch_one_twice(unsigned grid, unsigned block, const void* in, void* out, size_t n) {
  __emulated::launch({grid, block, 0}, serial_kernel<T>, static_cast<const T*>(in), static_cast<T*>(out),
                     size_t{0}, n, n / 2);
}

template <typename T>
void launch_not_a_number(unsigned grid, unsigned block, const void*, void* out, size_t) {
  __emulated::launch({grid, block, 0}, constant_kernel<T>, static_cast<T*>(out),
                     T{std::numeric_limits<float>::quiet_NaN()});
}

template <typename T> void launch_zero(unsigned grid, unsigned block, const void*, void* out, size_t) {
  __emulated::launch({grid, block, 0}, constant_kernel<T>, static_cast<T*>(out), T{});
}

template <typename T> void launch_nothing(unsigned grid, unsigned block, const void*, void* out, size_t) {
  __emulated::launch({grid, block, 0}, idle_kernel<T>, static_cast<T*>(out));
}

using Launch = void (*)(unsigned, unsigned, const void*, void*, size_t);

bool verifies(Launch launch, ElementType type, Data data) {
  const auto device = open_emulated_device();
  Options options;
  options.data = data;
  const StepKernel kernel{one_block, launch};
  const ReductionPlan plan = plan_reduction(kernel, {type, 1000, 32}, device->info());
  return measure({"broken", "", nullptr, nullptr}, *device, plan, options).verdict.verified;
}

TEST(Verifier, AcceptsACorrectKernel) {
  EXPECT_TRUE(verifies(launch_correct<std::uint32_t>, ElementType::int32, Data::random));
  EXPECT_TRUE(verifies(launch_correct<double>, ElementType::float64, Data::cancelling));
}

TEST(Verifier, RejectsAKernelThatDropsTheLastElement) {
  for (const Data data : {Data::random, Data::ones, Data::cancelling}) {
    EXPECT_FALSE(verifies(launch_without_last<std::uint32_t>, ElementType::int32, data));
    EXPECT_FALSE(verifies(launch_without_last<std::uint64_t>, ElementType::int64, data));
    EXPECT_FALSE(verifies(launch_without_last<float>, ElementType::float32, data));
    EXPECT_FALSE(verifies(launch_without_last<double>, ElementType::float64, data));
  }
}

TEST(Verifier, RejectsAKernelThatCountsAnElementTwice) {
  for (const Data data : {Data::random, Data::ones, Data::cancelling}) {
    EXPECT_FALSE(verifies(launch_one_twice<std::uint32_t>, ElementType::int32, data));
    EXPECT_FALSE(verifies(launch_one_twice<float>, ElementType::float32, data));
    EXPECT_FALSE(verifies(launch_one_twice<double>, ElementType::float64, data));
  }
}

TEST(Verifier, RejectsNotANumber) {
  EXPECT_FALSE(verifies(launch_not_a_number<float>, ElementType::float32, Data::random));
  EXPECT_FALSE(verifies(launch_not_a_number<double>, ElementType::float64, Data::random));
}

TEST(Verifier, RejectsAKernelThatWritesNothing) {
  for (const Data data : {Data::random, Data::ones, Data::cancelling}) {
    EXPECT_FALSE(verifies(launch_nothing<std::uint32_t>, ElementType::int32, data));
    EXPECT_FALSE(verifies(launch_nothing<std::uint64_t>, ElementType::int64, data));
    EXPECT_FALSE(verifies(launch_nothing<float>, ElementType::float32, data));
    EXPECT_FALSE(verifies(launch_nothing<double>, ElementType::float64, data));
  }
}

TEST(Verifier, RejectsZeroUnlessItIsTheSum) {
  EXPECT_FALSE(verifies(launch_zero<std::uint32_t>, ElementType::int32, Data::random));
  EXPECT_FALSE(verifies(launch_zero<float>, ElementType::float32, Data::ones));
}

}  // namespace
}  // namespace reduction
