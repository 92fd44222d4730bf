/// \file
/// The sums of 14's page on the emulated device: of 2^20 numbers of the steps, in one order and with bounds.
#include <gtest/gtest.h>

#include <cuda_runtime.h>

#include <cstddef>

#include "emulated/device_array.hpp"
#include "harness/input.hpp"
#include "reduction/reduce.cuh"

namespace {

using __emulated::DeviceArray;
using reduction::Bounded;
using reduction::CompensatedSum;
using reduction::Data;
using reduction::SameBits;
using reduction::Sum;

// The bits of any device.
constexpr float random_sum = -1331.95752F;
constexpr float cancelling_sum = 0.5F;
constexpr float random_bound = 2.24137984e-05F;
constexpr float cancelling_bound = 4.33654095e-05F;
// What the random numbers add up to without a rounding.
constexpr double exact_sum = -1331.9575419425964;

/// Of numbers that begin `start` elements after an address that a vector may have.
template <typename Out, typename Operation>
Out result_of(Data data, Operation operation, std::size_t start = 0) {
  constexpr std::size_t n = std::size_t{1} << 20;
  DeviceArray<float> in{start + n};
  for (std::size_t i = 0; i < n; ++i)
    in[start + i] = reduction::real_at<float>({data, 1, n}, i, 0, 1);
  DeviceArray<Out> out{1};
  EXPECT_EQ(reduction::reduce(in.begin() + start, out.begin(), n, operation), cudaSuccess);
  return out[0];
}

TEST(EmulatedPromises, OneOrderHasTheSameBitsAtEveryAddress) {
  for (const std::size_t start : {0, 1, 2, 3}) {
    EXPECT_EQ(result_of<float>(Data::random, SameBits{Sum{}}, start), random_sum);
    EXPECT_EQ(result_of<float>(Data::cancelling, SameBits{Sum{}}, start), cancelling_sum);
  }
}

TEST(EmulatedPromises, BoundsHaveTheSameBits) {
  const auto random = result_of<Bounded<float>>(Data::random, SameBits{CompensatedSum{}});
  EXPECT_EQ(random.value, random_sum);
  EXPECT_EQ(random.error_bound, random_bound);
  const auto cancelling = result_of<Bounded<float>>(Data::cancelling, SameBits{CompensatedSum{}});
  EXPECT_EQ(cancelling.value, 0);
  EXPECT_EQ(cancelling.error_bound, cancelling_bound);
}

TEST(EmulatedPromises, InDoubleTheSumIsExact) {
  const auto random = result_of<Bounded<double>>(Data::random, CompensatedSum{});
  EXPECT_EQ(random.value, exact_sum);
  EXPECT_EQ(random.error_bound, 0);
  const auto cancelling = result_of<Bounded<double>>(Data::cancelling, CompensatedSum{});
  EXPECT_EQ(cancelling.value, 0);
  EXPECT_EQ(cancelling.error_bound, 0);
}

}  // namespace
