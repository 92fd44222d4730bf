/// \file
/// Compiled once for each kernel that adds atomically: what tells them apart, and that a run begins at zero.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "harness/device.hpp"
#include "harness/measure.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/verification.hpp"

namespace reduction {
namespace {

StepKernel kernel_of(ElementType type) { return emulated_step_kernels()[static_cast<std::size_t>(type)]; }

/// Sums to be added for n elements, by the step's name.
std::uint64_t additions(std::uint64_t n, ElementType type, unsigned block) {
  const std::string_view step = STEP_NAME;
  if (step == "atomic_each") return n;
  // The first threads also take what is left after the last vector.
  const std::uint64_t width = 16 / size_of(type);
  if (step == "atomic_vector") return std::max(n / width, n % width);
  const std::uint64_t tile = std::uint64_t{2} * block;
  return (n + tile - 1) / tile;
}

TEST(Atomics, AreAsManyAsTheSumsOfTheStep) {
  const auto device = open_emulated_device();
  const Step step{STEP_NAME, "", nullptr, &emulated_step_kernels()};
  for (const ElementType type : element_types) {
    for (const std::uint64_t n : {0u, 1u, 7u, 4096u, 4099u}) {
      const ReductionPlan plan = plan_reduction(kernel_of(type), {type, n, 64}, device->info());
      const Result result = measure(step, *device, plan, Options{});
      ASSERT_EQ(result.pass_counters.size(), 1u);
      // A complex number takes two. A block without elements still adds its zero.
      const std::uint64_t expected =
          std::string_view(STEP_NAME) == "atomic_block" && n == 0 ? 1 : additions(n, type, 64);
      EXPECT_EQ(result.pass_counters.front().atomics, expected * parts_of(type))
          << fmt::format("{} {}", n, to_string(type));
    }
  }
}

TEST(Atomics, BeginAtZeroInEveryRun) {
  const auto device = open_emulated_device();
  constexpr std::size_t n = 1000;
  for (const ElementType type : element_types) {
    const Input input{Data::ones, 1, n};
    const ReductionPlan plan = plan_reduction(kernel_of(type), {type, n, 128}, device->info());
    const DeviceBuffer in(*device, n * size_of(type));
    const DeviceBuffer sum(*device, plan.partial_bytes(0));
    device->fill(in.data(), input, type, 0, n);
    device->poison(sum.data(), plan.partial_bytes(0));
    Value value{type};
    for (const char* run : {"first", "second"}) {
      plan.launch(in.data(), sum.data(), nullptr);
      device->download(value.bytes.data(), sum.data(), size_of(type));
      EXPECT_TRUE(verify(value, reference_sum(input, type), plan.most_additions).verified)
          << to_string(type) << ", " << run << " run";
    }
  }
}

TEST(Atomics, MeetTheToleranceOfATreeOverAllElements) {
  const auto device = open_emulated_device();
  const Step step{STEP_NAME, "", nullptr, &emulated_step_kernels()};
  constexpr ElementType type = ElementType::float32;
  const ReductionPlan plan = plan_reduction(kernel_of(type), {type, 1 << 16, 256}, device->info());
  const Result result = measure(step, *device, plan, Options{});
  const double magnitude = reference_sum(result.input, type).parts[0].magnitude;
  EXPECT_EQ(result.verdict.tolerance, rounding_bound(magnitude, 16 + 1, rounding_unit(type)));
}

}  // namespace
}  // namespace reduction
