/// \file
/// Compiled once for each step with wide loads: its kernels on a CUDA device, over inputs that begin at any element.
/// Skipped where there is no device.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/device.hpp"
#include "harness/reduction_plan.hpp"
#include "kernel.cuh"
// After the kernel.
#include "harness/step.cuh"

namespace reduction {
namespace {

/// The sum of the elements from `offset` to the end of `input`, as the step leaves it.
template <typename Real>
Real sum_from(Device& device, ElementType type, const Input& input, std::size_t offset) {
  constexpr unsigned block = 256;
  const StepKernel& kernel = (*cuda_step_kernels())[static_cast<std::size_t>(type)];
  const ReductionPlan plan = plan_reduction(kernel, {type, input.n - offset, block}, device.info());
  const std::size_t sums = plan.partial_bytes(0);
  const DeviceBuffer in(device, input.n * size_of(type));
  const DeviceBuffer partial(device, sums);
  const DeviceBuffer next_partial(device, sums);
  device.fill(in.data(), input, type, 0, input.n);
  const void* const begin = static_cast<const std::byte*>(in.data()) + offset * size_of(type);
  const void* const out = plan.launch(begin, partial.data(), next_partial.data());
  Real sum[2];
  device.download(sum, out, size_of(type));
  return sum[0];
}

TEST(GpuAlignment, SumsAnInputThatBeginsAtAnyElement) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  const auto device = open_cuda_device(0);
  for (const ElementType type : element_types) {
    visit_real(type, [&](auto real) {
      using Real = decltype(real);
      // Sums of random integers are exact, as those of ones are in every type.
      const Data data = is_integer(type) ? Data::random : Data::ones;
      for (std::size_t offset = 0; offset < 4; ++offset) {
        for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 1000, 4099, 1000003}) {
          const Input input{data, n, n + offset};
          Real expected{};
          for (std::size_t i = offset; i < input.n; ++i)
            expected = static_cast<Real>(expected + real_at<Real>(input, i, 0, parts_of(type)));
          EXPECT_EQ(sum_from<Real>(*device, type, input, offset), expected)
              << n << " " << to_string(type) << ", " << offset << " behind the boundary";
        }
      }
    });
  }
}

}  // namespace
}  // namespace reduction
