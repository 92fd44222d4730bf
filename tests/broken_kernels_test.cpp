/// \file
/// The verifier must see the mistakes that kernels make. Each of these kernels makes one.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "harness/device.hpp"
#include "harness/measure.hpp"

namespace reduction {
namespace {

/// What a kernel does but adding all elements.
enum class Mistake {
  none,
  drops_the_last_element,
  counts_one_twice,
  leaves_not_a_number,
  leaves_zero,
  writes_nothing
};

template <Mistake mistake, typename T> __global__ void add_up(const T* in, T* out, size_t n) {
  if (threadIdx.x != 0 || mistake == Mistake::writes_nothing) return;
  T sum{};
  if (mistake == Mistake::leaves_not_a_number) sum = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  const size_t last = mistake == Mistake::drops_the_last_element ? n - 1 : n;
  for (size_t i = 0; i < last && mistake != Mistake::leaves_zero; ++i)
    sum += in[i];
  if (mistake == Mistake::counts_one_twice) sum += in[n / 2];
  *out = sum;
}

template <Mistake mistake, typename T>
void launch(unsigned grid, unsigned block, const void* in, void* out, size_t n) {
  add_up<mistake, T><<<grid, block>>>(static_cast<const T*>(in), static_cast<T*>(out), n);
}

size_t one_block(std::size_t, unsigned) { return 1; }

template <Mistake mistake, typename T> bool verifies(ElementType type, Data data) {
  const auto device = open_emulated_device();
  Options options;
  options.data = data;
  const StepKernel kernel{one_block, launch<mistake, T>};
  const ReductionPlan plan = plan_reduction(kernel, {type, 1000, 32}, device->info());
  return measure({"broken", "", nullptr, nullptr}, *device, plan, options).verdict.verified;
}

template <Mistake mistake> void expect_seen(bool seen, const std::vector<Data>& all_data) {
  for (const Data data : all_data) {
    SCOPED_TRACE(static_cast<int>(mistake) * 10 + static_cast<int>(data));
    EXPECT_NE((verifies<mistake, std::uint32_t>(ElementType::int32, data)), seen);
    EXPECT_NE((verifies<mistake, std::uint64_t>(ElementType::int64, data)), seen);
    EXPECT_NE((verifies<mistake, float>(ElementType::float32, data)), seen);
    EXPECT_NE((verifies<mistake, double>(ElementType::float64, data)), seen);
  }
}

TEST(Verifier, SeesAMistakeAndNoneWhereThereIsNone) {
  const std::vector<Data> all{Data::random, Data::ones, Data::cancelling};
  expect_seen<Mistake::none>(false, all);
  expect_seen<Mistake::drops_the_last_element>(true, all);
  expect_seen<Mistake::counts_one_twice>(true, all);
  expect_seen<Mistake::writes_nothing>(true, all);
  expect_seen<Mistake::leaves_zero>(true, {Data::random, Data::ones});
}

TEST(Verifier, RejectsNotANumber) {
  EXPECT_FALSE((verifies<Mistake::leaves_not_a_number, float>(ElementType::float32, Data::random)));
  EXPECT_FALSE((verifies<Mistake::leaves_not_a_number, double>(ElementType::float64, Data::random)));
}

}  // namespace
}  // namespace reduction
