/// \file
/// 12's header with more than 1 GiB, which takes three kernels, or in the order of SameBits bulk copies: on a GPU.

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

/// Cheap enough for the host to add billions of them. Without a period of 2^32 or less: a sum of bytes over whole periods
/// would be 0, and one that misses them would be right.
template <typename T> __host__ __device__ T quick_number(std::size_t i) {
  return static_cast<T>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u >> 40);
}

template <typename T, typename Element> __global__ void set_all(T* in, std::size_t n, Element element) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    in[i] = element(i);
}

template <typename T> struct QuickNumber {
  __device__ T operator()(std::size_t i) const { return quick_number<T>(i); }
};
template <typename T> struct Always {
  T value;
  __device__ T operator()(std::size_t) const { return value; }
};

/// More than 1 GiB, and not a whole number of anything. Of bytes more than 32 bits can count.
template <typename T>
constexpr std::size_t large_n = (std::size_t{1} << (sizeof(T) == 1 ? 32 : 30)) / sizeof(T) + 12345;

/// Sets large_n<T> + 1 elements on the device; none if they do not fit there.
template <typename T, typename Element> std::unique_ptr<DeviceArray<T>> large_input(Element element) {
  constexpr std::size_t n = large_n<T> + 1;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
  if (free_bytes < n * sizeof(T) + (std::size_t{64} << 20)) return nullptr;
  auto in = std::make_unique<DeviceArray<T>>(n);
  set_all<<<1024, 256>>>(in->get(), n, element);
  cuda_check(cudaDeviceSynchronize(), "setting elements");
  return in;
}
constexpr const char* does_not_fit = "the GPU has too little free memory";

template <typename T> class ReduceLarge : public Reduce {};
using Numbers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, __half, __nv_bfloat16,
                               std::uint32_t, float>;
TYPED_TEST_SUITE(ReduceLarge, Numbers);

/// From the first element and from the second; the later places come first in time.
TYPED_TEST(ReduceLarge, OneElementDecides) {
  using T = TypeParam;
  constexpr std::size_t n = large_n<T>;
  const auto in = large_input<T>(Always<T>{number<T>(2)});
  if (in == nullptr) GTEST_SKIP() << does_not_fit;
  for (const std::size_t start : {0, 1}) {
    const T* const first = in->get() + start;
    EXPECT_EQ((result<Indexed<T>>(first, n, by(ArgMax{})).index), 0);
    for (const std::size_t place :
         {n - 1, n - 5, n - 20000, n / 2, n / 2 - 1, std::size_t{1} << 24, std::size_t{0}}) {
      in->set(start + place, number<T>(1));
      EXPECT_EQ(plain(result<T>(first, n, by(Min{}))), 1) << place;
      EXPECT_EQ(plain(result<T>(first, n, by(Max{}))), 2) << place;
      in->set(start + place, number<T>(7));
      EXPECT_EQ(plain(result<T>(first, n, by(Max{}))), 7) << place;
      EXPECT_EQ(result<double>(first, n, by(Sum{})), 2.0 * n + 5) << place;
      EXPECT_EQ((result<Indexed<T>>(first, n, by(ArgMax{})).index), static_cast<long long>(place));
      in->set(start + place, number<T>(2));
    }
  }
}

template <typename T> T quick_sum() {
  T sum = 0;
  for (std::size_t i = 0; i < large_n<T>; ++i)
    sum = static_cast<T>(sum + quick_number<T>(i));
  return sum;
}

/// Their sums wrap around.
template <typename T> void expect_quick_sum(const DeviceArray<T>& in) {
  const T sum = quick_sum<T>();
  const T from_second = static_cast<T>(sum - quick_number<T>(0) + quick_number<T>(large_n<T>));
  const SameBits in_chunks{WithIdentity{Sum{}, T{0}}};
  EXPECT_EQ(result<T>(in, large_n<T>, by(Sum{})), sum);
  EXPECT_EQ(result<T>(in, large_n<T>, by(Sum{}, 7)), static_cast<T>(sum + 7));
  EXPECT_EQ(result<T>(in, large_n<T>, by(in_chunks, 7)), static_cast<T>(sum + 7));
  const T* const second = in.get() + 1;
  EXPECT_EQ(result<T>(second, large_n<T>, by(Sum{}, 7)), static_cast<T>(from_second + 7));
  EXPECT_EQ(result<T>(second, large_n<T>, by(in_chunks)), from_second);
}

class ReduceLargeInputs : public Reduce {};

TEST_F(ReduceLargeInputs, SumOfAnyIntegers) {
  const auto bytes = large_input<std::uint8_t>(QuickNumber<std::uint8_t>{});
  const auto words = large_input<std::uint32_t>(QuickNumber<std::uint32_t>{});
  if (bytes == nullptr || words == nullptr) GTEST_SKIP() << does_not_fit;
  expect_quick_sum(*bytes);
  expect_quick_sum(*words);
}

/// A sum of zeros is -0 only if all are.
TEST_F(ReduceLargeInputs, SumOfMinusZeros) {
  constexpr std::size_t n = large_n<float>;
  const auto in = large_input<float>(Always<float>{-0.0f});
  if (in == nullptr) GTEST_SKIP() << does_not_fit;
  EXPECT_TRUE(agree(result<float>(*in, n, by(Sum{})), -0.0f));
  EXPECT_TRUE(agree(result<float>(*in, n, by(Sum{}, 0.0f)), 0.0f));
  in->set(n - 1, 0.0f);
  EXPECT_TRUE(agree(result<float>(*in, n, by(Sum{})), 0.0f));
}

template <unsigned count> void expect_multiples(const DeviceArray<std::uint32_t>& in) {
  using Many = Multiples<std::uint32_t, count>;
  const Many expected(quick_sum<std::uint32_t>());
  EXPECT_TRUE(agree(result<Many>(in, large_n<std::uint32_t>, by(AddWords{})), expected)) << count << " words";
}

TEST_F(ReduceLargeInputs, AccumulatorsOfAnySize) {
  const auto in = large_input<std::uint32_t>(QuickNumber<std::uint32_t>{});
  if (in == nullptr) GTEST_SKIP() << does_not_fit;
  expect_multiples<3>(*in);
  expect_multiples<384>(*in);
}

/// All numbers are a third: the exact sum is known.
TEST_F(ReduceLargeInputs, CompensatedSumIsBounded) {
  constexpr std::size_t n = large_n<float>;
  const float third = 1.0f / 3;
  const auto in = large_input<float>(Always<float>{third});
  if (in == nullptr) GTEST_SKIP() << does_not_fit;
  const auto sum = result<Bounded<float>>(*in, n, by(CompensatedSum{}));
  const double exact = static_cast<double>(n) * static_cast<double>(third);  // 24 and 29 bits
  const double u = std::ldexp(1.0, -24);
  EXPECT_LE(std::abs(exact - static_cast<double>(sum.value)), static_cast<double>(sum.error_bound));
  EXPECT_LE(static_cast<double>(sum.error_bound), 4 * (u + static_cast<double>(n) * u * u) * exact);
}

TEST_F(ReduceLargeInputs, SameBitsInEveryRun) {
  constexpr std::size_t n = large_n<std::uint32_t>;
  const auto in = large_input<std::uint32_t>(QuickNumber<std::uint32_t>{});
  if (in == nullptr) GTEST_SKIP() << does_not_fit;
  const auto once = result<float>(*in, n, by(Sum{}));  // as floats their sum rounds
  for (int run = 0; run < 10; ++run)
    EXPECT_TRUE(agree(result<float>(*in, n, by(Sum{})), once)) << "run " << run;
}

}  // namespace
}  // namespace reduction
